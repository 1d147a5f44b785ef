import type { Position, StreamName, TranscriptFacts } from "../../../../execution/record.ts"
import { countLineEnds, lineEnd } from "../../../../lib/vector/line-ends.ts"
import type { ReadOutcome, ReadPosition } from "../../../gateway/ports.ts"
import { isSoundRecord } from "../chain.ts"
import {
  emptyRecordHeader,
  hashBytes,
  readRecordFields,
  recordFieldBytes,
  recordOverheadBytes,
  resizePayloadBytes,
  segmentHeaderBytes,
} from "../format.ts"
import type { TranscriptFiles } from "../segment-files.ts"
import { afterMark, type Mark, nothing, type Step, shorterLength } from "./piece-mark.ts"
import { SegmentWindow } from "./segment-window.ts"

const maxPieceBytes = 64 * 1024
// From here on a piece is long enough to leave the next record whole for the next one: lines of
// whole records need no counting.
const goodPieceBytes = maxPieceBytes / 2

/** Why a piece ends where it does. What was gathered before a fault is handed out first. */
type Stop =
  | Extract<ReadOutcome, { kind: "resized" }>
  | { kind: "run-ends" } // the other stream comes next, or nothing that is announced
  | { kind: "goes-on" }
  | { kind: "missing" }
  | { kind: "damaged"; why: string }

const runEnds: Stop = { kind: "run-ends" }
const goesOn: Stop = { kind: "goes-on" }
const missing: Stop = { kind: "missing" }

export type PieceOutcome =
  | Extract<ReadOutcome, { kind: "piece" | "resized" | "at-end" }>
  | { kind: "missing" }
  | { kind: "damaged"; why: string }

/**
 * Gathers the payloads that follow a place, as long as they are of one stream, into bytes that lie
 * side by side. Headers are checked against each other on the way; hashes are not, they are for
 * `verify`.
 */
export class PieceReader {
  readonly #window = new SegmentWindow()
  readonly #header = emptyRecordHeader()
  readonly #following = emptyRecordHeader()

  /** After everything gathered. */
  #at: ReadPosition = { segment: 0, offset: 0, sequence: 0, lines: 0, inside: 0 }

  /** What is gathered, in the window. */
  #stream: StreamName | null = null
  #runStart = 0
  #runEnd = 0
  #timeMs = 0

  /** The last record with a line end in what was gathered of it. */
  readonly #mark: Mark = { ...nothing, runLength: 0, sequence: 0, linesAfter: 0 }
  #isMarked = false

  /** Every record of the run, where a piece must be shorter than they usually are. */
  #steps: Step[] | null = null
  #mostBytes = maxPieceBytes
  #linesBefore = 0
  #seesSizes = false

  /** The place is between the start and the end of the facts. */
  read(
    files: TranscriptFiles,
    position: ReadPosition,
    facts: TranscriptFacts,
    mostBytes = maxPieceBytes,
    sizes?: "with-sizes",
  ): PieceOutcome {
    this.#seesSizes = sizes !== undefined
    this.#mostBytes = Math.max(1, mostBytes)
    this.#steps = mostBytes < maxPieceBytes ? [] : null
    const { segment, offset, sequence, lines, inside } = position
    this.#at = { segment, offset, sequence, lines, inside }
    this.#linesBefore = lines
    this.#stream = null
    this.#runStart = 0
    this.#runEnd = 0
    this.#isMarked = false
    this.#window.clear()
    const stop = this.#gather(files, facts.end)
    if (this.#stream !== null) return this.#piece(this.#stream, sequence, stop !== runEnds)
    if (stop.kind === "missing" || stop.kind === "damaged" || stop.kind === "resized") return stop
    return this.#seesSizes ? { kind: "at-end" } : damaged("no output is here")
  }

  #gather(files: TranscriptFiles, end: Position): Stop {
    const window = this.#window
    for (;;) {
      if (this.#at.sequence === end.sequence && !this.#isBeforeSize(end)) return runEnds
      const needsMore = window.filled - window.parsed < recordFieldBytes
      const stop = needsMore ? this.#loadMore(files, end) : this.#takeRecord(files, end)
      if (stop !== null) return stop
    }
  }

  #loadMore(files: TranscriptFiles, end: Position): Stop | null {
    const window = this.#window
    const isNothingGathered = this.#stream === null
    let position = this.#at
    if (window.isFileEnd) {
      if (window.parsed !== window.filled) return damaged("the segment ends inside a record")
      if (position.segment >= end.segment)
        return damaged("the segment ends before the announced end")
      position = { ...position, segment: position.segment + 1, offset: 0 }
    } else if (!isNothingGathered) {
      return goesOn
    }
    if (isNothingGathered) window.clear()
    const load = window.load(files, position, end)
    if (load === "missing") return missing
    if (load === "no-room") return goesOn
    if (load !== "loaded") return load
    this.#at = position
    if (position.offset === 0) position.offset = segmentHeaderBytes
    return null
  }

  /** Adds the next record, or what fits of it, to the run; null when the run may go on. */
  #takeRecord(files: TranscriptFiles, end: Position): Stop | null {
    const window = this.#window
    const header = this.#header
    const at = this.#at
    const isRecord =
      readRecordFields(window.view, window.parsed, header) &&
      header.sequence === at.sequence - at.inside &&
      at.inside < header.length
    if (!isRecord) return damaged("no record begins here")
    const recordBytes = recordOverheadBytes + header.length
    const sequenceAfter = header.sequence + (header.kind === "resize" ? 0 : header.length)
    const isPastEnd = at.segment === end.segment && at.offset + recordBytes > end.offset
    if (isPastEnd || sequenceAfter > end.sequence) {
      return damaged("the record reaches past the announced end")
    }
    const payloadAt = window.parsed + recordFieldBytes
    const rest = header.length - at.inside
    if (window.isFileEnd && payloadAt + rest + hashBytes > window.filled) {
      return damaged("the record is incomplete")
    }
    // Either its length is false, or the next one is broken: its own hash tells.
    const isFollowed = this.#isFollowed(payloadAt + rest + hashBytes, sequenceAfter)
    if (!isFollowed && !isSoundRecord(files, at, header.length)) return damaged("no record follows")
    if (header.kind === "resize" && this.#seesSizes) return this.#size(payloadAt)
    if (header.kind === "resize") {
      window.parsed += recordBytes
      at.offset += recordBytes
      return at.inside === 0 ? null : damaged("no output is here")
    }
    if (this.#stream !== null && this.#stream !== header.kind) return runEnds
    const runLength = this.#runEnd - this.#runStart
    const room = maxPieceBytes - runLength
    if (runLength >= goodPieceBytes && rest > room) return goesOn
    if (runLength >= this.#mostBytes) return goesOn
    const taken = Math.min(rest, room, window.filled - payloadAt)
    if (this.#stream === null) {
      // Behind others in the window it may be cut off: by itself it is whole there.
      if (taken < rest && window.parsed > 0) {
        window.clear()
        return null
      }
      this.#stream = header.kind
      this.#timeMs = header.timeMs
    }
    const { segment, offset, inside } = at
    this.#steps?.push({ segment, offset, inside, length: header.length, runLength })
    if (taken < rest) return this.#takePart(payloadAt, taken)
    this.#takeRest(payloadAt, rest)
    return null
  }

  /** Behind the last byte of output, sizes may follow. */
  #isBeforeSize({ segment, offset }: Position): boolean {
    const at = this.#at
    return this.#seesSizes && (at.segment < segment || at.offset < offset)
  }

  /** A size ends what was gathered before it, and stands alone. */
  #size(payloadAt: number): Stop | null {
    if (this.#stream !== null) return runEnds
    const { view, filled, parsed } = this.#window
    if (payloadAt + resizePayloadBytes > filled) {
      if (parsed === 0) return damaged("the record is incomplete")
      this.#window.clear()
      return null
    }
    const size = { cols: view.getUint16(payloadAt), rows: view.getUint16(payloadAt + 2) }
    const next = { ...this.#at }
    next.offset += recordOverheadBytes + resizePayloadBytes
    return { kind: "resized", size, next }
  }

  /** What is not in the window is not known. */
  #isFollowed(nextAt: number, sequence: number): boolean {
    const { view, filled } = this.#window
    if (nextAt + recordFieldBytes > filled) return true
    return readRecordFields(view, nextAt, this.#following) && this.#following.sequence === sequence
  }

  #takeRest(payloadAt: number, rest: number): void {
    const { length, lines } = this.#header
    const at = this.#at
    const linesTaken =
      at.inside === 0
        ? lines
        : countLineEnds(this.#window.bytes.subarray(payloadAt, payloadAt + rest))
    if (linesTaken > 0) this.#markHere(at.lines + linesTaken)
    this.#extendRun(payloadAt, rest)
    this.#window.parsed = payloadAt + rest + hashBytes
    at.offset += recordOverheadBytes + length
    at.sequence += rest
    at.lines += linesTaken
    at.inside = 0
  }

  // Only a record that is new to the reader is ever taken in part: the rest of one always fits.
  #takePart(payloadAt: number, taken: number): Stop {
    const at = this.#at
    const part = this.#window.bytes.subarray(payloadAt, payloadAt + taken)
    const cut = part.lastIndexOf(lineEnd) + 1
    if (cut > 0) this.#markHere(at.lines + this.#lineEndsBefore(payloadAt, cut))
    this.#extendRun(payloadAt, taken)
    at.sequence += taken
    at.inside += taken
    return goesOn
  }

  /** Line ends in the first bytes of a payload, counted on its shorter side. */
  #lineEndsBefore(payloadAt: number, cut: number): number {
    const { bytes, filled } = this.#window
    const { length, lines } = this.#header
    const isRestShorter = length - cut < cut && payloadAt + length <= filled
    return isRestShorter
      ? lines - countLineEnds(bytes.subarray(payloadAt + cut, payloadAt + length))
      : countLineEnds(bytes.subarray(payloadAt, payloadAt + cut))
  }

  #markHere(linesAfter: number): void {
    const mark = this.#mark
    const at = this.#at
    mark.segment = at.segment
    mark.offset = at.offset
    mark.sequence = at.sequence
    mark.inside = at.inside
    mark.length = this.#header.length
    mark.runLength = this.#runEnd - this.#runStart
    mark.linesAfter = linesAfter
    this.#isMarked = true
  }

  // Whichever is shorter moves next to the other: mostly the rest of a line, next to a whole
  // record.
  #extendRun(at: number, length: number): void {
    const { bytes } = this.#window
    const runLength = this.#runEnd - this.#runStart
    if (runLength < length) {
      bytes.copyWithin(at - runLength, this.#runStart, this.#runEnd)
      this.#runStart = at - runLength
      this.#runEnd = at + length
    } else {
      bytes.copyWithin(this.#runEnd, at, at + length)
      this.#runEnd += length
    }
  }

  #piece(stream: StreamName, sequence: number, hasMore: boolean): PieceOutcome {
    let bytes = this.#window.bytes.subarray(this.#runStart, this.#runEnd)
    let next = this.#at
    if (bytes.length > this.#mostBytes) {
      bytes = bytes.subarray(0, shorterLength(bytes, this.#mostBytes))
      next = this.#positionAfter(bytes, sequence)
    } else if (hasMore && this.#isMarked) {
      const cut = bytes.lastIndexOf(lineEnd) + 1
      if (cut <= this.#mark.runLength) return damaged("a record has fewer lines than it says")
      bytes = bytes.subarray(0, cut)
      next = afterMark(this.#mark, cut)
    }
    const endsInsideLine = bytes[bytes.length - 1] !== lineEnd
    const piece = { stream, bytes, sequence, timeMs: this.#timeMs, next, endsInsideLine }
    return { kind: "piece", piece }
  }

  /** After the first bytes of the run, wherever they end. */
  #positionAfter(bytes: Uint8Array, sequence: number): ReadPosition {
    const step = this.#steps?.findLast(({ runLength }) => runLength < bytes.length)
    if (step === undefined) throw new Error(`nothing was gathered at ${sequence}`)
    const linesAfter = this.#linesBefore + countLineEnds(bytes)
    return afterMark({ ...step, sequence: sequence + step.runLength, linesAfter }, bytes.length)
  }
}

function damaged(why: string): { kind: "damaged"; why: string } {
  return { kind: "damaged", why }
}
