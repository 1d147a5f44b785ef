import type { StateKind } from "../../execution/state.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import type { GapNotice } from "../../protocol/methods.ts"
import type { Completed } from "../../protocol/notifications.ts"
import type { Screen } from "../../protocol/screen.ts"
import { DetachedError } from "../client-error.ts"
import type { ExecutionEvent, LifeEvent, OutputEvent, ResizedEvent } from "./execution-event.ts"
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
  readonly #told = new Set<LifeEvent["kind"]>()
  #isPaused = false
  #pid: number | null
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
    this.#pid = options.pid
    this.#received = options.from
    this.#taken = options.from
    ignoreUnhandledRejection(this.ended)
  }

  get pid(): number | null {
    return this.#pid
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

  /** The pid is in the status, not in the answer to an attach. */
  learnPid(pid: number | null): void {
    this.#pid ??= pid
  }

  attached(state: StateKind, from: string): void {
    // Only `tail` is replaced by where it turned out to be. If a cursor was forgotten, `from` may
    // stand behind the gap, and a cut before the gap was told would swallow it.
    if (this.#received === "tail") {
      this.#received = from
      this.#taken = from
    }
    if (this.#pid !== null) this.life("started", this.#pid)
    if (state === "paused") this.life("paused", null)
    if (state === "running") this.life("resumed", null)
  }

  /**
   * Notices are not part of the transcript: they are missed while away and repeated by an attach.
   * So each is told once, and what a state implies is made up for.
   */
  life(kind: LifeEvent["kind"], pid: number | null): void {
    this.learnPid(pid)
    if (this.#isChange(kind)) this.queue.push({ kind, pid: this.#pid })
  }

  output(event: OutputEvent): void {
    this.#received = event.next
    if (this.#options.output === "keep") this.queue.push(event)
    else this.#eventTaken(event)
  }

  screen(screen: Screen, next: string): void {
    this.#received = next
    this.queue.push({ kind: "screen", screen, next })
  }

  resized({ cols, rows, next }: Omit<ResizedEvent, "kind">): void {
    this.#received = next
    this.queue.push({ kind: "resized", cols, rows, next })
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

  #isChange(kind: LifeEvent["kind"]): boolean {
    if (kind === "started" || kind === "canceled") {
      const isNew = !this.#told.has(kind)
      this.#told.add(kind)
      return isNew
    }
    const wasPaused = this.#isPaused
    this.#isPaused = kind === "paused"
    return this.#isPaused !== wasPaused
  }
}
