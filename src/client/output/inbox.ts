import type { StateKind } from "../../execution/state.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import type { GapNotice } from "../../protocol/methods.ts"
import type { Completed } from "../../protocol/notifications.ts"
import { DetachedError } from "../client-error.ts"
import type { ExecutionEvent, LifeEvent, OutputEvent } from "./execution-event.ts"
import { LifecycleTracker } from "./lifecycle-tracker.ts"
import { OutputQueue } from "./output-queue.ts"

export type InboxOptions = {
  executionId: string
  pid: number | null
  from: string
  /** `ignore`: chunks are dropped as they come, the cursor moves on. */
  output: "keep" | "ignore"
  queueBytes: number
}

/** What this client has of one execution: events to be taken, how far they go, and the end. */
export class Inbox {
  readonly queue: OutputQueue
  readonly #ended = Promise.withResolvers<Completed>()
  readonly ended = this.#ended.promise

  readonly #options: InboxOptions
  readonly #eventTaken: (event: ExecutionEvent) => void
  readonly #life: LifecycleTracker
  #endIsKnown = false
  #received: string // the cursor after what came in
  #taken: string // the cursor after what was taken out

  /** `taken` runs after each event that is taken out, or dropped as it came. */
  constructor(options: InboxOptions, taken: (event: ExecutionEvent) => void) {
    this.#options = options
    this.#eventTaken = taken
    this.queue = new OutputQueue(options.queueBytes, (event) => {
      if ("next" in event) this.#taken = event.next
      taken(event)
    })
    this.#life = new LifecycleTracker(options.pid)
    this.#received = options.from
    this.#taken = options.from
    ignoreUnhandledRejection(this.ended)
  }

  get pid(): number | null {
    return this.#life.pid
  }

  get endIsKnown(): boolean {
    return this.#endIsKnown
  }

  /** Where to go on after a reconnect. */
  get received(): string {
    return this.#received
  }

  /** Where somebody who took over from the consumer would go on. */
  get taken(): string {
    return this.#options.output === "ignore" ? this.#received : this.#taken
  }

  /** Whether all output that came was taken. */
  get isTakenOut(): boolean {
    return this.#options.output === "ignore" || this.queue.isEmpty
  }

  learnPid(pid: number | null): void {
    this.#life.learnPid(pid)
  }

  attached(state: StateKind, from: string): void {
    // Only `tail` is replaced by where it turned out to be. If a cursor was forgotten, `from` may
    // stand behind the gap, and a cut before the gap was told would swallow it.
    if (this.#received === "tail") {
      this.#received = from
      this.#taken = from
    }
    this.#push(this.#life.fromState(state))
  }

  life(kind: LifeEvent["kind"], pid: number | null): void {
    this.#push(this.#life.fromNotice(kind, pid))
  }

  output(event: OutputEvent): void {
    this.#received = event.next
    if (this.#options.output === "keep") this.queue.push(event)
    else this.#eventTaken(event)
  }

  gap(gap: GapNotice): void {
    const { from, next, bytes, lines, reason } = gap
    this.#received = next
    this.queue.push({ kind: "gap", from, next, bytes, lines, reason })
  }

  /** The last event, after the last byte. */
  complete(completed: Completed): void {
    // Its notice may have been missed, and that somebody canceled is not to be lost.
    if (completed.cause === "client") this.life("canceled", null)
    this.queue.push({ kind: "completed", completed })
    this.queue.finish()
    this.learnEnd(completed)
  }

  /** The end is known although not all output before it is here. */
  learnEnd(completed: Completed): void {
    this.#endIsKnown = true
    this.#ended.resolve(completed)
  }

  /** The output cannot be had; the end still can. */
  failOutput(error: unknown): void {
    this.queue.fail(error)
  }

  fail(error: unknown): void {
    this.queue.fail(error)
    this.#ended.reject(error)
  }

  detach(): void {
    this.queue.finish()
    this.#ended.reject(new DetachedError(this.#options.executionId))
  }

  #push(events: ExecutionEvent[]): void {
    for (const event of events) this.queue.push(event)
  }
}
