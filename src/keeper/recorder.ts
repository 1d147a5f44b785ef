import { LoopShare } from "../execution/loop-share.ts"
import type { Position, StreamName } from "../execution/record.ts"
import type { Budget, TerminalSize } from "../execution/spec.ts"
import { elapse } from "./elapse.ts"
import type { ChildOutput, Clock, TranscriptWriter } from "./ports.ts"

export type RecorderEvents = {
  /** So many bytes were recorded, or at least taken from the child. */
  advanced(bytes: number): void
  blockedChanged(isBlocked: boolean): void
  diskFull(): void
}

export type RecorderSettings = {
  budget: Budget
  /** A terminal cannot be made to wait: what is not taken would pile up in memory. */
  terminal: TerminalSize | null
  /** Once a budget has wrapped, a child is read no faster than this. */
  throttleBytesPerSecond: number
}

/** What a wrapped budget may cost in files made and unlinked. */
const segmentsPerSecond = 1000
const segmentsPerBudget = 16
const shortestThrottleMs = 5

/** There is one event loop, whatever number of floods there is: the most of a pipe, then others. */
const reading = new LoopShare(256 * 1024, (run) => void setImmediate(run))

/** Carries a child's output into its transcript, at the pace its budget allows. */
export class Recorder {
  readonly done: Promise<void>
  /** Never resolves: rejects when the recording itself breaks. */
  readonly failed: Promise<never>
  readonly #transcript: TranscriptWriter
  readonly #clock: Clock
  readonly #events: RecorderEvents
  readonly #policy: Budget["policy"]
  readonly #throttledBytesPerMs: number
  readonly #outputs: ReadonlyArray<{ stream: StreamName; output: ChildOutput }>
  readonly #released = new AbortController()
  #waiting: Array<() => void> = []
  #floor: Position | null = null
  #isDiskFull = false
  #paidUntilMs = 0
  #takenBytes = 0
  #isDone = false

  constructor(
    outputs: ReadonlyArray<{ stream: StreamName; output: ChildOutput }>,
    transcript: TranscriptWriter,
    settings: RecorderSettings,
    clock: Clock,
    events: RecorderEvents,
  ) {
    this.#outputs = outputs
    this.#transcript = transcript
    this.#clock = clock
    this.#events = events
    this.#policy = settings.budget.policy
    const segmentBytes = settings.budget.bytes / segmentsPerBudget
    this.#throttledBytesPerMs =
      settings.terminal === null
        ? Math.min(settings.throttleBytesPerSecond, segmentBytes * segmentsPerSecond) / 1000
        : Infinity
    this.done = this.#pumpAll()
    this.failed = new Promise((_, reject) => {
      this.done.catch(reject)
    })
  }

  get isDone(): boolean {
    return this.#isDone
  }

  /** Bytes read from the child so far. */
  get takenBytes(): number {
    return this.#takenBytes
  }

  /** Up to where every driver has taken the output; null when nobody drives. */
  setFloor(floor: Position | null): void {
    this.#floor = floor
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }

  /** The child is gone: what is left in its pipes is little, and is taken without waiting. */
  release(): void {
    this.#released.abort()
    this.setFloor(this.#floor)
  }

  /** Gives up on pipes that somebody else holds open. */
  cancel(): void {
    this.release()
    for (const { output } of this.#outputs) output.cancel()
  }

  async #pumpAll(): Promise<void> {
    await Promise.all(this.#outputs.map((one) => this.#pump(one)))
    this.#isDone = true
  }

  async #pump({ stream, output }: { stream: StreamName; output: ChildOutput }): Promise<void> {
    while (true) {
      if (this.#policy === "block") await this.#room()
      const taken = await this.#take(stream, output)
      if (taken === null) return
      // Others have their turn after every read, and the pipe fills meanwhile: a flood is read in
      // large pieces, at less than half the cost.
      await new Promise<void>((resolve) => {
        reading.later(() => {
          resolve()
          return taken // as much as the next piece, as far as one can know
        })
      })
      await this.#throttle(taken)
    }
  }

  /** Reads and records one piece, and keeps nothing of it: with many floods the turn is far. */
  async #take(stream: StreamName, output: ChildOutput): Promise<number | null> {
    const bytes = await output.read()
    if (bytes === null) return null
    this.#takenBytes += bytes.length
    this.#record(stream, bytes)
    this.#events.advanced(bytes.length)
    return bytes.length
  }

  #record(stream: StreamName, bytes: Uint8Array): void {
    if (this.#isDiskFull) {
      this.#transcript.discard(bytes)
      return
    }
    const outcome = this.#transcript.append(stream, bytes, this.#clock.now())
    if (outcome.kind === "appended") return
    this.#isDiskFull = true
    this.#transcript.discard(outcome.lost)
    this.#events.diskFull()
  }

  async #room(): Promise<void> {
    let waited = false
    while (this.#transcript.isFull() && !this.#released.signal.aborted) {
      if (this.#floor !== null) this.#transcript.forgetBefore(this.#floor)
      if (!this.#transcript.isFull()) break
      if (!waited) this.#events.blockedChanged(true)
      waited = true
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    if (waited) this.#events.blockedChanged(false)
  }

  async #throttle(bytes: number): Promise<void> {
    const hasWrapped = this.#transcript.facts().start.sequence > 0
    if (!hasWrapped || this.#policy === "block" || this.#released.signal.aborted) return
    const nowMs = this.#clock.monotonicMs()
    this.#paidUntilMs = Math.max(this.#paidUntilMs, nowMs) + bytes / this.#throttledBytesPerMs
    const aheadMs = this.#paidUntilMs - nowMs
    if (aheadMs < shortestThrottleMs) return
    await elapse(this.#clock, aheadMs, this.#released.signal)
  }
}
