import { closeSync, readSync } from "node:fs"
import type { Position } from "../../../../execution/record.ts"
import {
  emptyRecordHeader,
  type RecordHeader,
  readRecordFields,
  recordFieldBytes,
  recordOverheadBytes,
  type SegmentHeader,
  segmentHeaderBytes,
} from "../format.ts"
import { openForReading, segmentPath, type TranscriptFiles } from "../segment-files.ts"

/** Where a record begins, or the last one ends, and how much standard output is before it. */
export type RecordPlace = Position & { stdoutBytes: number }

// Small records come many at a time; of large ones only the header is read.
const windowBytes = 16 * 1024
const smallRecordBytes = 4 * 1024
/** Opening a file and reading from it costs as much as going past so many headers in memory. */
const readCost = 16

/**
 * Goes through one segment from a place that is known, by the headers of its records alone. It is
 * always at the beginning of a record or at the end of the last: whatever a payload looks like.
 */
export class RecordScan implements Disposable {
  /** Both are used again for the next record. */
  readonly at: RecordPlace
  readonly header: RecordHeader = emptyRecordHeader()
  /** Set once `read` has answered false. */
  end: "complete" | "damaged" | "missing" | null = null
  /** What it has taken so far, in headers that lie in memory. */
  cost = 0
  readonly #fd: number | null
  readonly #limit: number
  readonly #window = new Uint8Array(windowBytes)
  readonly #view = new DataView(this.#window.buffer)
  #windowStart = 0
  #windowEnd = 0

  constructor(files: TranscriptFiles, from: RecordPlace, end: Position) {
    this.at = { ...from }
    this.#limit = from.segment === end.segment ? end.offset : Number.POSITIVE_INFINITY
    this.#fd = openForReading(segmentPath(files, from.segment))
    this.cost = readCost
  }

  /** Whether a record begins here: then its header is there. */
  read(): boolean {
    if (this.end !== null) return false
    if (this.#fd === null) return this.#ended("missing")
    if (this.at.offset >= this.#limit) return this.#ended("complete")
    const loaded = this.#load(this.#fd)
    if (loaded === 0 && this.#limit === Number.POSITIVE_INFINITY) return this.#ended("complete")
    if (loaded < recordFieldBytes) return this.#ended("damaged")
    const isRecord = readRecordFields(this.#view, this.at.offset - this.#windowStart, this.header)
    if (!isRecord || this.header.sequence !== this.at.sequence) return this.#ended("damaged")
    this.cost += 1
    return true
  }

  /** Goes behind the record that was read. */
  pass(): void {
    const { at, header } = this
    at.offset += recordOverheadBytes + header.length
    if (header.kind === "resize") return
    at.sequence += header.length
    at.lines += header.lines
    if (header.kind === "stdout") at.stdoutBytes += header.length
  }

  [Symbol.dispose](): void {
    if (this.#fd !== null) closeSync(this.#fd)
  }

  /** How many bytes of the next header are in the window now; fewer at the end of the file only. */
  #load(fd: number): number {
    const { offset } = this.at
    if (offset + recordFieldBytes > this.#windowEnd) {
      const wanted = this.header.length > smallRecordBytes ? recordFieldBytes : windowBytes
      this.#windowStart = offset
      this.#windowEnd = offset + readSync(fd, this.#window, 0, wanted, offset)
      this.cost += readCost
    }
    return Math.min(this.#windowEnd - offset, recordFieldBytes)
  }

  #ended(how: NonNullable<RecordScan["end"]>): false {
    this.end = how
    return false
  }
}

/** A record and where it begins. Both are used again for the next one. */
type ScannedRecord = Pick<RecordScan, "header" | "at">

/**
 * The records of one segment up to a place. It ends early where the headers no longer make sense:
 * whoever reads there is told what is wrong.
 */
export function* scanSegment(
  files: TranscriptFiles,
  segment: SegmentHeader,
  end: Position,
): Generator<ScannedRecord, void, void> {
  using scan = new RecordScan(files, headOf(segment), end)
  while (scan.read()) {
    yield scan
    scan.pass()
  }
}

export function headOf({ number, sequence, lines, stdout }: SegmentHeader): RecordPlace {
  return {
    segment: number,
    offset: segmentHeaderBytes,
    sequence,
    lines,
    stdoutBytes: stdout.bytes,
  }
}
