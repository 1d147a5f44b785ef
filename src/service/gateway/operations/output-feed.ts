import { type ExecutionRecord, hasEnded, type StreamName } from "../../../execution/record.ts"
import { messageOf } from "../../../lib/errno.ts"
import { lineEnd } from "../../../lib/vector/line-ends.ts"
import { failure } from "../../../protocol/failure.ts"
import type { Caller } from "../../access/caller.ts"
import { noLongerGood } from "../../access/permission.ts"
import type {
  FeedEvent,
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

type Held = Record<StreamName, Uint8Array>
type OutputPiece = Omit<Piece, "next">

/** One reader of one execution's output: a position on disk, and no queue. */
export class TranscriptFeed implements OutputFeed, FollowReader {
  readonly from: string
  readonly availableFrom: string
  readonly #followed: Followed
  readonly #reading: Disposable
  readonly #reader: TranscriptReader
  readonly #caller: Pick<Caller, "isStillGood">
  readonly #metrics: OutputMetrics
  readonly #counts: ReaderCounts
  readonly #listeners = new Set<() => void>()
  #states: ExecutionRecord[] = []
  #position: ReadPosition
  /** Bytes of a split character: read already, not delivered yet. */
  #held: Held
  #lastSequence = -1
  #lastTimeMs: number
  #isOver = false
  /** From then on, what it gets late is late. Before, it reads what was there before it came. */
  #hasCaughtUp = false

  constructor(
    followed: Followed,
    start: { position: ReadPosition; held: Held },
    reader: TranscriptReader,
    live: LiveExecutions,
    caller: Pick<Caller, "isStillGood" | "via">,
    metrics: OutputMetrics,
  ) {
    this.#followed = followed
    this.#caller = caller
    this.#metrics = metrics
    this.#counts = metrics.readerBy(caller.via)
    this.#reader = reader
    this.#position = start.position
    this.#held = start.held
    this.#lastTimeMs = Date.parse(followed.record.createdAt)
    this.from = this.cursor()
    const { start: oldest } = followed.transcript
    this.availableFrom = encodeCursor({ position: { ...oldest, inside: 0 }, held: noHeld() })
    this.#reading = live.read(followed, this)
  }

  get executionId() {
    return this.#followed.record.id
  }

  record(): ExecutionRecord {
    return { ...this.#followed.record, transcript: this.#followed.transcript }
  }

  cursor(): string {
    return encodeCursor({ position: this.#position, held: this.#held })
  }

  position() {
    return this.#position
  }

  passedBytes(): number {
    return this.#position.sequence - this.#held.stdout.length - this.#held.stderr.length
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
    if (form === "bytes") {
      const held = this.#takeHeld()
      if (held !== null) return this.#output(held)
    }
    while (true) {
      const { transcript } = this.#followed
      const read = this.#reader.read(this.executionId, this.#position, transcript, mostBytes)
      switch (read.kind) {
        case "piece": {
          const event = this.#piece(read.piece, form)
          if (event !== null) return event
          break
        }
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
    const whole = wholeText(this.#held[stream], piece.bytes)
    if (whole.held !== this.#held[stream]) this.#held = { ...this.#held, [stream]: whole.held }
    return whole.utf8.length === 0 ? null : this.#output(piece, whole)
  }

  #output(piece: OutputPiece, text?: WholeText): FeedEvent {
    const { stream, sequence, timeMs } = piece
    const bytes = text?.utf8 ?? piece.bytes
    this.#lastSequence = sequence
    this.#lastTimeMs = timeMs
    this.#counts.bytes += bytes.length
    if (this.#hasCaughtUp) this.#metrics.delay.observe((Date.now() - timeMs) / 1000)
    return {
      kind: "output",
      stream,
      bytes,
      lossy: text?.lossy ?? 0,
      sequence,
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
    this.#counts.gaps += 1
    this.#counts.gapBytes += bytes
    this.#counts.gapLines += lines
    return { kind: "gap", from, next: this.cursor(), bytes, lines, reason: "budget" }
  }

  /** What was held back will never be completed: it stands for itself. */
  #flushHeld(): FeedEvent | null {
    const held = this.#takeHeld()
    return held === null ? null : this.#output(held, wholeText(nothing, held.bytes, "complete"))
  }

  #takeHeld(): OutputPiece | null {
    const { stdout, stderr } = this.#held
    const stream = stdout.length > 0 ? "stdout" : "stderr"
    const bytes = this.#held[stream]
    if (bytes.length === 0) return null
    this.#held = { ...this.#held, [stream]: nothing }
    // Where these bytes stood is forgotten; it was before this place, after what was delivered.
    const before = this.#position.sequence - stdout.length - stderr.length
    const sequence = Math.max(before, this.#lastSequence + 1)
    return { stream, bytes, sequence, timeMs: this.#lastTimeMs, endsInsideLine: true }
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

export function noHeld(): Held {
  return { stdout: nothing, stderr: nothing }
}
