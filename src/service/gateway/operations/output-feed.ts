import { type ExecutionRecord, hasEnded, type StreamName } from "../../../execution/record.ts"
import { messageOf } from "../../../lib/errno.ts"
import { lineEnd } from "../../../lib/vector/line-ends.ts"
import { failure } from "../../../protocol/failure.ts"
import type { Caller } from "../../access/caller.ts"
import { noLongerGood } from "../../access/permission.ts"
import type {
  FeedEvent,
  HeldBytes,
  HeldRun,
  OutputFeed,
  OutputForm,
  Piece,
  ReadPosition,
  TranscriptReader,
} from "../ports.ts"
import type { OutputMetrics, ReaderCounts } from "../reports/gateway-metrics.ts"
import { encodeCursor } from "./cursor.ts"
import type { Followed, FollowReader, LiveExecutions } from "./live-executions.ts"
import { type WholeText, wholeText } from "./whole-text.ts"

const nothing = new Uint8Array(0)
const mostStates = 100

type OutputPiece = Omit<Piece, "next">

/** Where a feed begins: at a place that was found in the transcript, never one that was claimed. */
export type FeedStart = {
  position: ReadPosition
  held: readonly HeldRun[]
  /** What its cursor held back, too, but was dropped from the record since. */
  forgottenBytes: number
  /** The cursor for it. */
  from: string
}

/** One reader of one execution's output: a position on disk, and no queue. */
export class TranscriptFeed implements OutputFeed, FollowReader {
  readonly from: string
  readonly availableFrom: string
  readonly #followed: Followed
  readonly #reading: Disposable
  readonly #reader: TranscriptReader
  readonly #caller: Pick<Caller, "isStillGood">
  readonly #metrics: OutputMetrics
  readonly #sizes: "with-sizes" | undefined
  readonly #counts: ReaderCounts
  readonly #listeners = new Set<() => void>()
  #states: ExecutionRecord[] = []
  #position: ReadPosition
  /** Bytes of a split character: read already, not delivered yet. In the order of the output. */
  #held: readonly HeldRun[]
  #forgottenBytes: number
  #lastSequence = -1
  /** Line ends before what was read last. */
  #line = 0
  #isOver = false
  /** From then on, what it gets late is late. Before, it reads what was there before it came. */
  #hasCaughtUp = false

  constructor(
    followed: Followed,
    start: FeedStart,
    reader: TranscriptReader,
    live: LiveExecutions,
    caller: Pick<Caller, "isStillGood" | "via">,
    metrics: OutputMetrics,
    sizes?: "with-sizes",
  ) {
    this.#sizes = sizes
    this.#followed = followed
    this.#caller = caller
    this.#metrics = metrics
    this.#counts = metrics.readerBy(caller.via)
    this.#reader = reader
    this.#position = start.position
    this.#held = start.held
    this.#forgottenBytes = start.forgottenBytes
    this.from = start.from
    const { start: oldest } = followed.transcript
    this.availableFrom = encodeCursor({ position: { ...oldest, inside: 0 }, held: noHeld })
    this.#reading = live.read(followed, this)
  }

  get executionId() {
    return this.#followed.record.id
  }

  record(): ExecutionRecord {
    return { ...this.#followed.record, transcript: this.#followed.transcript }
  }

  cursor(): string {
    const held = this.#held.length === 0 ? noHeld : heldBytes(this.#held)
    return encodeCursor({ position: this.#position, held })
  }

  position() {
    return this.#position
  }

  passedBytes(): number {
    const held = this.#held.reduce((sum, { bytes }) => sum + bytes.length, 0)
    return this.#position.sequence - held - this.#forgottenBytes
  }

  onAdvance(advanced: () => void): Disposable {
    this.#listeners.add(advanced)
    return { [Symbol.dispose]: () => void this.#listeners.delete(advanced) }
  }

  advanced(): void {
    for (const listener of this.#listeners) listener()
  }

  changed(record: ExecutionRecord): void {
    if (!hasEnded(record)) {
      if (this.#states.length >= mostStates) this.#states.shift()
      this.#states.push(record)
    }
    this.advanced()
  }

  next(form: OutputForm, mostBytes?: number): FeedEvent | null {
    try {
      return this.#next(form, mostBytes)
    } catch (error) {
      // What the disk says of one transcript is the affair of its readers alone.
      const why = messageOf(error)
      return this.#fail(failure("INTERNAL", `The transcript could not be read: ${why}.`))
    }
  }

  #next(form: OutputForm, mostBytes: number | undefined): FeedEvent | null {
    if (this.#isOver) return null
    if (!this.#caller.isStillGood()) return this.#fail(noLongerGood)
    const state = this.#states.shift()
    if (state !== undefined) return { kind: "state", record: state }
    if (this.#forgottenBytes > 0) return this.#gapOfHeld()
    if (form === "bytes") {
      const [oldest, ...others] = this.#held
      const sequence = this.#sequenceOfHeld()
      this.#held = others
      this.#line = this.#position.lines
      if (oldest !== undefined) return this.#output({ ...oldest, sequence, endsInsideLine: true })
    }
    while (true) {
      const { transcript } = this.#followed
      const at = this.#position
      this.#line = at.lines
      const read = this.#reader.read(this.executionId, at, transcript, mostBytes, this.#sizes)
      switch (read.kind) {
        case "piece": {
          const event = this.#piece(read.piece, form)
          if (event !== null) return event
          break
        }
        case "resized":
          this.#position = read.next
          return { kind: "resized", size: read.size, next: this.cursor() }
        case "at-end":
          return this.#atEnd()
        case "forgotten":
          return this.#flushHeld() ?? this.#gap(read.next)
        case "damaged":
          return this.#fail(
            failure(
              "INTERNAL",
              `The transcript is damaged at ${read.sequence}: ${read.why}. See transcript.verify.`,
              { sequence: read.sequence },
            ),
          )
        case "expired":
          return this.#fail(transcriptExpired)
      }
    }
  }

  [Symbol.dispose](): void {
    this.#listeners.clear()
    this.#reading[Symbol.dispose]()
  }

  #piece(piece: Piece, form: OutputForm): FeedEvent | null {
    const { stream } = piece
    this.#position = piece.next
    if (form === "bytes") return this.#output(piece)
    const before = this.#held.length === 0 ? nothing : heldBytes(this.#held)[stream]
    const whole = wholeText(before, piece.bytes)
    if (before.length + whole.held.length > 0) this.#hold(piece, whole.held)
    return whole.utf8.length === 0 ? null : this.#output(piece, whole)
  }

  /** The last bytes of a piece, behind those held before where they are still unfinished. */
  #hold({ stream, bytes, sequence, timeMs }: Piece, held: Uint8Array): void {
    const isLonger = held.length > bytes.length
    const others = this.#held.filter((run) => isLonger || run.stream !== stream)
    const last = held.slice(-bytes.length)
    const run = { stream, bytes: last, sequence: sequence + bytes.length - last.length, timeMs }
    this.#held = last.length === 0 ? others : [...others, run]
  }

  #output(piece: OutputPiece, text?: WholeText): FeedEvent {
    const { stream, sequence, timeMs } = piece
    const bytes = text?.utf8 ?? piece.bytes
    this.#lastSequence = sequence
    this.#counts.bytes += bytes.length
    if (this.#hasCaughtUp) this.#metrics.delay.observe((Date.now() - timeMs) / 1000)
    return {
      kind: "output",
      stream,
      bytes,
      lossy: text?.lossy ?? 0,
      sequence,
      line: this.#line,
      timeMs,
      next: this.cursor(),
      // What is held back may begin a line that the text does not show yet.
      endsInsideLine: text === undefined ? piece.endsInsideLine : bytes.at(-1) !== lineEnd,
    }
  }

  #atEnd(): FeedEvent | null {
    if (!hasEnded(this.#followed.record)) {
      this.#hasCaughtUp = true
      return null
    }
    const rest = this.#flushHeld()
    if (rest !== null) return rest
    this.#isOver = true
    return { kind: "ended", record: this.#followed.record }
  }

  #gap(next: ReadPosition): FeedEvent {
    const from = this.cursor()
    const bytes = next.sequence - this.#position.sequence
    const lines = next.lines - this.#position.lines
    this.#position = next
    return this.#countedGap(from, bytes, lines)
  }

  /** The rest of a character may come yet, but its beginning is not on record any more. */
  #gapOfHeld(): FeedEvent {
    const bytes = this.#forgottenBytes
    this.#forgottenBytes = 0
    return this.#countedGap(this.from, bytes, 0)
  }

  #countedGap(from: string, bytes: number, lines: number): FeedEvent {
    this.#counts.gaps += 1
    this.#counts.gapBytes += bytes
    this.#counts.gapLines += lines
    return { kind: "gap", from, next: this.cursor(), bytes, lines, reason: "budget" }
  }

  /** What was held back will never be completed: it stands for itself. */
  #flushHeld(): FeedEvent | null {
    const [oldest] = this.#held
    if (oldest === undefined) return null
    const { stream, timeMs } = oldest
    const bytes = heldBytes(this.#held)[stream]
    const sequence = this.#sequenceOfHeld()
    this.#line = this.#position.lines
    this.#held = this.#held.filter((run) => run.stream !== stream)
    const text = wholeText(nothing, bytes, "complete")
    return this.#output({ stream, bytes, sequence, timeMs, endsInsideLine: true }, text)
  }

  /**
   * What came after it may have been delivered before it, but a sequence never goes back, and adds
   * up to what was delivered.
   */
  #sequenceOfHeld(): number {
    return Math.max(this.passedBytes(), this.#lastSequence + 1)
  }

  #fail(refused: Extract<FeedEvent, { kind: "failed" }>["failure"]): FeedEvent {
    this.#isOver = true
    return { kind: "failed", failure: refused }
  }
}

export const transcriptExpired = failure(
  "EXPIRED",
  "The transcript of this execution is no longer kept.",
)

export const noHeld: HeldBytes = { stdout: nothing, stderr: nothing }

function heldBytes(runs: readonly HeldRun[]): HeldBytes {
  const of = (stream: StreamName) =>
    Buffer.concat(runs.flatMap((run) => (run.stream === stream ? [run.bytes] : [])))
  return { stdout: of("stdout"), stderr: of("stderr") }
}
