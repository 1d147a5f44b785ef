import type { Count, Position, StreamName } from "../../../execution/record.ts"
import { genesisOf, hashInto, hashSegment, isHashAt } from "./chain.ts"
import {
  emptyRecordHeader,
  hashBytes,
  readRecordFields,
  readSegmentFields,
  recordFieldBytes,
  recordOverheadBytes,
  type SegmentHeader,
  segmentFieldBytes,
  segmentHeaderBytes,
} from "./format.ts"
import { readAt, segmentPath, type TranscriptFiles } from "./segment-files.ts"

export type WalkEnd =
  | { kind: "complete" }
  | { kind: "broken"; why: string }
  | { kind: "missing-segment" }

const windowBytes = 512 * 1024

/**
 * Goes through a transcript record by record and believes nothing: every hash, count and length is
 * checked before a record is shown. It keeps no file open between two steps.
 */
export class ChainWalk {
  /** Where the walk stands: after the records that were found whole. */
  segment: number
  offset = 0
  sequence = 0
  lines = 0
  readonly stdout: Count = { bytes: 0, lines: 0 }
  readonly stderr: Count = { bytes: 0, lines: 0 }
  readonly chain: Uint8Array
  /**
   * Where the first segment begins, and how much of each stream was before; after the first step.
   */
  readonly start: Position
  readonly bytesBefore: Record<StreamName, number> = { stdout: 0, stderr: 0 }

  /** The record last shown; its payload is valid until the next step. */
  readonly record = emptyRecordHeader()
  payload = new Uint8Array(0)
  /** Set once `next` has answered false. */
  end: WalkEnd | null = null

  readonly #files: TranscriptFiles
  readonly #limit: { segment: number; offset: number }
  readonly #window = new Uint8Array(windowBytes)
  readonly #view = new DataView(this.#window.buffer)
  readonly #hash = new Uint8Array(hashBytes)
  #isFirstSegment = true
  #offsetLeft = 0 // where the segment before this one ended
  #windowStart = 0 // both are places in the file
  #windowEnd = 0

  /**
   * The first segment is believed about what came before it; the limit is where the walk must end.
   */
  constructor(files: TranscriptFiles, first: number, limit: { segment: number; offset: number }) {
    this.#files = files
    this.#limit = limit
    this.segment = first
    this.start = { segment: first, offset: 0, sequence: 0, lines: 0 }
    this.chain = genesisOf(files.executionId)
  }

  position(): Position {
    const { segment, offset, sequence, lines } = this
    const isAtDoor = offset === 0 && !this.#isFirstSegment
    return isAtDoor
      ? { segment: segment - 1, offset: this.#offsetLeft, sequence, lines }
      : { segment, offset, sequence, lines }
  }

  /** Whether so much of each stream came up to here. */
  hasCounted({ stdout, stderr }: Record<StreamName, Count>): boolean {
    return (
      stdout.bytes === this.stdout.bytes &&
      stdout.lines === this.stdout.lines &&
      stderr.bytes === this.stderr.bytes &&
      stderr.lines === this.stderr.lines
    )
  }

  /** Moves past the next record, once it is found whole; false at the end. */
  next(): boolean {
    while (this.end === null) {
      if (this.offset === 0) {
        this.#enterSegment()
        continue
      }
      const available = this.#load(recordFieldBytes)
      if (available > 0) return this.#passRecord(available)
      this.#leaveSegment()
    }
    return false
  }

  #enterSegment(): void {
    const loaded = this.#load(segmentHeaderBytes)
    if (this.end !== null) return
    if (loaded < segmentHeaderBytes) return this.#break("the segment's header is incomplete")
    const header = readSegmentFields(new DataView(this.#window.buffer, 0, segmentFieldBytes))
    if (header === null) return this.#break("this is no segment's header")
    if (header.number !== this.segment) return this.#break("the segment has another's number")

    const before = this.#window.subarray(segmentFieldBytes, segmentFieldBytes + hashBytes)
    const hash = hashSegment(before, this.#window)
    const hashAt = segmentFieldBytes + hashBytes
    if (!isHashAt(this.#window, hashAt, hash))
      return this.#break("the segment's header was changed")
    if (this.#isFirstSegment && header.number > 0) this.#believe(header, before)
    if (!isHashAt(before, 0, this.chain)) return this.#break("the segment continues another chain")
    if (!this.hasCounted(header)) return this.#break("the segment does not go on where it should")
    this.#isFirstSegment = false
    this.chain.set(hash)
    this.offset = segmentHeaderBytes
  }

  #believe(header: SegmentHeader, chainBefore: Uint8Array): void {
    this.sequence = this.start.sequence = header.sequence
    this.lines = this.start.lines = header.lines
    Object.assign(this.stdout, header.stdout)
    Object.assign(this.stderr, header.stderr)
    this.bytesBefore.stdout = header.stdout.bytes
    this.bytesBefore.stderr = header.stderr.bytes
    this.chain.set(chainBefore)
  }

  #passRecord(available: number): boolean {
    const { record } = this
    if (available < recordFieldBytes) return this.#broken("the record's header is incomplete")
    const fieldsAt = this.offset - this.#windowStart
    if (!readRecordFields(this.#view, fieldsAt, record)) return this.#broken("this is no record")
    if (record.sequence !== this.sequence) return this.#broken("the record has another's sequence")
    const length = recordOverheadBytes + record.length
    if (this.#load(length) < length) return this.#broken("the record is incomplete")

    const at = this.offset - this.#windowStart
    const hashAt = at + recordFieldBytes + record.length
    hashInto(this.#window.subarray(at - hashBytes, hashAt), this.#hash)
    if (!isHashAt(this.#window, hashAt, this.#hash)) return this.#broken("the record was changed")
    this.payload = this.#window.subarray(at + recordFieldBytes, hashAt)
    this.chain.set(this.#hash)
    this.offset += length
    if (record.kind !== "resize") this.#count(this[record.kind])
    return true
  }

  #count(stream: Count): void {
    this.sequence += this.record.length
    this.lines += this.record.lines
    stream.bytes += this.record.length
    stream.lines += this.record.lines
  }

  #leaveSegment(): void {
    if (this.end !== null) return
    if (this.segment < this.#limit.segment) {
      this.segment += 1
      this.#offsetLeft = this.offset
      this.offset = 0
      this.#windowStart = 0
      this.#windowEnd = 0
    } else if (this.offset < this.#limit.offset) {
      this.#break("the transcript was cut short here")
    } else {
      this.end = { kind: "complete" }
    }
  }

  /** How many of the wanted bytes at the offset are in the window now; fewer at the limit only. */
  #load(wanted: number): number {
    const limit = this.segment === this.#limit.segment ? this.#limit.offset : Infinity
    if (this.#windowEnd < Math.min(limit, this.offset + wanted)) {
      // The hash before the record comes along, so that the two can be hashed as they lie.
      const start = Math.max(0, this.offset - hashBytes)
      const path = segmentPath(this.#files, this.segment)
      const read = readAt(path, this.#window, 0, this.#window.length, start)
      if (read === null) this.end = { kind: "missing-segment" }
      this.#windowStart = start
      this.#windowEnd = start + (read ?? 0)
    }
    return Math.max(0, Math.min(this.#windowEnd, limit, this.offset + wanted) - this.offset)
  }

  #broken(why: string): false {
    this.#break(why)
    return false
  }

  #break(why: string): void {
    this.end = { kind: "broken", why }
  }
}
