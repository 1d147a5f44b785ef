import type { HandedExecution } from "../../../execution/handover.ts"
import type { Position, StreamName } from "../../../execution/record.ts"
import type { Budget, TerminalSize } from "../../../execution/spec.ts"
import { EventLoopBudget } from "../../../lib/event-loop-budget.ts"
import { freeBytes } from "../../../lib/free-bytes.ts"
import type { ChildOutput, Clock, OutputRedactor, Redaction, TranscriptWriter } from "../ports.ts"
import { nextTurn, sleep } from "../sleep.ts"
import { PatientAppender } from "./patient-appender.ts"

export type RecorderEvents = {
  /** So many bytes were recorded, or at least taken from the child. */
  advanced(bytes: number): void
  blockedChanged(isBlocked: boolean): void
  diskFull(): void
  /** More came than the limit of all output; what comes from now on is only counted. */
  outputLimit(): void
}

export type RecorderSettings = {
  budget: Budget
  /** A terminal cannot be made to wait: what is not taken would pile up in memory. */
  terminal: TerminalSize | null
  /** Once a budget has wrapped, a child is read no faster than this. */
  throttleBytesPerSecond: number
  /** Of both streams, retained or not; null is no limit. */
  outputLimitBytes: number | null
  redaction: Redaction | null
}

/** What a recorder has read, for the one that goes on in its place. */
export type Recorded = Pick<
  HandedExecution,
  "takenBytes" | "takenStdoutBytes" | "redactors" | "isDiskFull"
>

const nothingRecorded: Recorded = {
  takenBytes: 0,
  takenStdoutBytes: 0,
  redactors: [],
  isDiskFull: false,
}

type Source = { stream: StreamName; output: ChildOutput; redactor: OutputRedactor | null }

/** What a wrapped budget may cost in files made and unlinked. */
const segmentsPerSecond = 1000
const segmentsPerBudget = 16
const shortestThrottleMs = 5

const redactedAtOnceBytes = 64 * 1024
const longTurnMs = 2

/** There is one event loop, whatever number of floods there is: the most of a pipe, then others. */
const reading = new EventLoopBudget(256 * 1024, (run) => void setImmediate(run))

/** Carries a child's output into its transcript, at the pace its budget allows. */
export class Recorder {
  readonly done: Promise<void>
  /** Never resolves: rejects when the recording itself breaks. */
  readonly failed: Promise<never>
  readonly #transcript: TranscriptWriter
  readonly #appender: PatientAppender
  readonly #clock: Clock
  readonly #events: RecorderEvents
  readonly #policy: Budget["policy"]
  readonly #throttledBytesPerMs: number
  readonly #outputLimitBytes: number
  readonly #sources: readonly Source[]
  readonly #released = new AbortController()
  #waiting: Array<() => void> = []
  #floor: Position | null = null
  #isDiskFull: boolean
  #paidUntilMs = 0
  #takenBytes: number
  #takenStdoutBytes: number
  #isDone = false
  #isHandedOver = false
  readonly #standstill = Promise.withResolvers<void>()

  constructor(
    outputs: ReadonlyArray<{ stream: StreamName; output: ChildOutput }>,
    transcript: TranscriptWriter,
    settings: RecorderSettings,
    clock: Clock,
    events: RecorderEvents,
    before: Recorded = nothingRecorded,
  ) {
    const { redaction } = settings
    const placeIn = (stream: StreamName) => before.redactors.find((one) => one.stream === stream)
    this.#sources = outputs.map(({ stream, output }) => ({
      stream,
      output,
      redactor: redaction?.stream(placeIn(stream)) ?? null,
    }))
    this.#takenBytes = before.takenBytes
    this.#takenStdoutBytes = before.takenStdoutBytes
    this.#isDiskFull = before.isDiskFull
    this.#transcript = transcript
    this.#appender = new PatientAppender(transcript, clock)
    this.#clock = clock
    this.#events = events
    this.#policy = settings.budget.policy
    this.#outputLimitBytes = settings.outputLimitBytes ?? Infinity
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

  /** Whether what was read waits for something that is short: then silence says nothing. */
  get isHeldUp(): boolean {
    return this.#appender.isWaiting
  }

  get takenBytes(): number {
    return this.#takenBytes
  }

  /** Of standard output alone. */
  get takenStdoutBytes(): number {
    return this.#takenStdoutBytes
  }

  get redacted(): Record<StreamName, number> {
    const counts = { stdout: 0, stderr: 0 }
    for (const { stream, redactor } of this.#sources) counts[stream] = redactor?.count ?? 0
    return counts
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
    for (const { output } of this.#sources) output.cancel()
  }

  /** The same, and waits: after it nothing more is recorded. */
  async abandon(): Promise<void> {
    this.cancel()
    await this.done.catch(() => undefined) // whoever waits for `failed` is told
  }

  /**
   * The outputs were handed over: records what was taken from them before, then stands still. It is
   * never done, because another one goes on.
   */
  async standStill(): Promise<void> {
    this.#isHandedOver = true
    this.release()
    await this.#standstill.promise
  }

  /** Where the next one begins. */
  recorded(): Recorded {
    const redactors = this.#sources.flatMap(({ stream, redactor }) =>
      redactor === null ? [] : [{ stream, ...redactor.handOver() }],
    )
    return {
      takenBytes: this.#takenBytes,
      takenStdoutBytes: this.#takenStdoutBytes,
      redactors,
      isDiskFull: this.#isDiskFull,
    }
  }

  async #pumpAll(): Promise<void> {
    await Promise.all(this.#sources.map((source) => this.#pump(source)))
    this.#standstill.resolve()
    if (this.#isHandedOver) return new Promise(() => undefined)
    this.#isDone = true
  }

  async #pump(source: Source): Promise<void> {
    while (true) {
      if (this.#policy === "block") await this.#room()
      const taken = await this.#take(source)
      if (taken === null) return this.#isHandedOver ? undefined : this.#recordRest(source)
      // Others have their turn after every read, and the pipe fills meanwhile: a flood is read in
      // large pieces, at less than half the cost.
      await new Promise<void>((resolve) => {
        reading.runNextTurn(() => {
          resolve()
          return taken // as much as the next piece, as far as one can know
        })
      })
      await this.#throttle(taken)
    }
  }

  /** Reads and records one piece, and keeps nothing of it: with many floods the turn is far. */
  async #take(source: Source): Promise<number | null> {
    const bytes = await source.output.read()
    if (bytes === null) return null
    if (source.redactor === null) await this.#accept(source, bytes)
    else await this.#acceptInParts(source, bytes)
    const { length } = bytes
    freeBytes(bytes)
    this.#events.advanced(length)
    return length
  }

  /** A text can be hard on the patterns: then others have their turn between two parts of it. */
  async #acceptInParts(source: Source, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += redactedAtOnceBytes) {
      const startedMs = this.#clock.monotonicMs()
      await this.#accept(source, bytes.subarray(at, at + redactedAtOnceBytes))
      if (this.#clock.monotonicMs() - startedMs > longTurnMs) await nextTurn()
    }
  }

  /** At a limit of output, the record ends with the byte that was one too many, to show it. */
  async #accept({ stream, redactor }: Source, bytes: Uint8Array): Promise<void> {
    const roomBytes = Math.max(0, this.#outputLimitBytes + 1 - this.#takenBytes)
    this.#takenBytes += bytes.length
    if (stream === "stdout") this.#takenStdoutBytes += bytes.length
    const isTooMuch = bytes.length >= roomBytes
    const kept = isTooMuch ? bytes.subarray(0, roomBytes) : bytes
    await this.#record(stream, redactor === null ? kept : redactor.push(kept))
    if (!isTooMuch) return
    if (roomBytes > 0) this.#events.outputLimit()
    this.#transcript.discard(bytes.subarray(roomBytes))
  }

  /** What was held back as the beginning of a match that never came. */
  async #recordRest({ stream, redactor }: Source): Promise<void> {
    const rest = redactor?.end() ?? null
    if (rest === null || rest.length === 0) return
    if (this.#policy === "block") await this.#room()
    await this.#record(stream, rest)
    this.#events.advanced(0)
  }

  async #record(stream: StreamName, bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return
    if (this.#isDiskFull) {
      this.#transcript.discard(bytes)
      return
    }
    const outcome = await this.#appender.append(stream, bytes)
    if (outcome.kind === "appended") return
    this.#isDiskFull = true
    this.#transcript.discard(outcome.rest)
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
    await sleep(this.#clock, aheadMs, this.#released.signal)
  }
}
