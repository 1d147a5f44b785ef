import { closeSync } from "node:fs"
import type { HandedTranscript } from "../../../../execution/handover.ts"
import {
  type Count,
  maxPayloadBytes,
  type Position,
  type StreamName,
  type TranscriptFacts,
  type TranscriptHashes,
} from "../../../../execution/record.ts"
import type { Budget, TerminalSize } from "../../../../execution/spec.ts"
import { afterLineEnds, countLineEnds } from "../../../../lib/vector/line-ends.ts"
import type { AppendOutcome, TranscriptWriter } from "../../../keeper/ports.ts"
import { hexOf } from "../chain.ts"
import {
  emptyRecordHeader,
  type RecordKind,
  recordOverheadBytes,
  resizePayloadBytes,
  type SegmentHeader,
} from "../format.ts"
import { removeFile, segmentPath, type TranscriptFiles } from "../segment-files.ts"
import type { NotWritten } from "./open-segment.ts"
import { createSegment, diskFull, type OpenSegment, writeWhole } from "./open-segment.ts"
import { recordStart, type SharedByWriters } from "./record-buffer.ts"
import {
  type Extent,
  excessOf,
  fits,
  isNearlyOver,
  isOver,
  type Shares,
  sharesOf,
} from "./retention.ts"
import { addTo, type StreamTotals } from "./stream-totals.ts"
import { createSyncer, type Syncer } from "./syncer.ts"
import { endOf, nothingWritten, startOf, type Written } from "./written.ts"

/** Nothing is on disk before the first record: an execution without output has no files. */
export function createTranscriptWriter(
  files: TranscriptFiles,
  budget: Budget,
  shared: SharedByWriters,
  onForget: (facts: TranscriptFacts) => void,
  written: Written = nothingWritten(files),
): TranscriptWriter {
  return new Writer(files, budget, shared, onForget, written)
}

const appended: AppendOutcome = { kind: "appended" }

class Writer implements TranscriptWriter {
  readonly #files: TranscriptFiles
  readonly #shares: Shares
  readonly #dropsOldest: boolean
  readonly #shared: SharedByWriters
  readonly #onForget: (facts: TranscriptFacts) => void
  readonly #syncer: Syncer

  readonly #totals: StreamTotals
  readonly #discarded: Count
  readonly #chain: Uint8Array
  readonly #kept: OpenSegment[]
  readonly #header = emptyRecordHeader()
  #fileBytes = 0 // of all that is kept
  #isClosed = false
  #counted: Position // what came before it is counted as forgotten

  constructor(
    files: TranscriptFiles,
    budget: Budget,
    shared: SharedByWriters,
    onForget: (facts: TranscriptFacts) => void,
    { totals, discarded, chain, kept }: Written,
  ) {
    this.#files = files
    this.#shares = sharesOf(budget)
    this.#dropsOldest = budget.policy === "drop-oldest"
    this.#shared = shared
    this.#onForget = onForget
    this.#syncer = createSyncer(files)
    this.#totals = totals
    this.#discarded = discarded
    this.#chain = chain
    this.#kept = kept
    this.#counted = startOf(kept)
    for (const { start, fileBytes } of kept) {
      this.#fileBytes += fileBytes
      this.#syncer.begun(start.number)
    }
  }

  facts(): TranscriptFacts {
    const start = startOf(this.#kept)
    return {
      start,
      end: endOf(this.#kept, this.#totals),
      ...this.#totals.counts(),
      dropped: {
        bytes: start.sequence + this.#discarded.bytes,
        lines: start.lines + this.#discarded.lines,
      },
    }
  }

  append(stream: StreamName, bytes: Uint8Array, time: Date): AppendOutcome {
    const timeMs = time.getTime()
    let at = this.#dropsOldest ? excessOf(this.#shares, bytes) : 0
    let failed = at > 0 ? this.#passBy(stream, bytes.subarray(0, at), timeMs) : null
    if (failed !== null) return { ...failed, rest: bytes }
    while (at < bytes.length && failed === null) {
      const payload = this.#nextPayload(bytes, at)
      failed = this.#record(stream, payload, countLineEnds(payload), timeMs)
      if (failed === null) at += payload.length
    }
    if (this.#dropsOldest) this.#forgetOldest()
    return failed === null ? appended : { ...failed, rest: bytes.subarray(at) }
  }

  appendResize(size: TerminalSize, time: Date): AppendOutcome {
    const payload = new Uint8Array(resizePayloadBytes)
    const view = new DataView(payload.buffer)
    view.setUint16(0, size.cols)
    view.setUint16(2, size.rows)
    const failed = this.#record("resize", payload, 0, time.getTime())
    if (this.#dropsOldest) this.#forgetOldest()
    return failed === null ? appended : { ...failed, rest: new Uint8Array(0) }
  }

  discard(bytes: Uint8Array): void {
    const lines = countLineEnds(bytes)
    addTo(this.#discarded, bytes.length, lines)
    addTo(this.#shared.totals.unrecorded, bytes.length, lines)
  }

  isFull(): boolean {
    return isNearlyOver(this.#shares, this.#extentSince(this.#kept[0], this.#fileBytes))
  }

  forgetBefore(position: Position): void {
    let count = 0
    while (this.#endsBefore(count, position)) count += 1
    if (count > 0) this.#forget(count)
    // What is being written may be all there is, and too much: then it must go as well.
    const isTaken = position.sequence >= this.#totals.sequence && this.isFull()
    if (isTaken && this.#beginSegment().kind === "open") this.#forget(this.#kept.length - 1)
  }

  hashes(): TranscriptHashes {
    return { chain: hexOf(this.#chain), ...this.#totals.hashes() }
  }

  handOver(): HandedTranscript {
    return { chain: hexOf(this.#chain), discarded: this.#discarded }
  }

  sync(): Promise<void> {
    return this.#syncer.sync()
  }

  [Symbol.dispose](): void {
    const current = this.#kept.at(-1)
    if (current !== undefined && !this.#isClosed) closeSync(current.fd)
    this.#isClosed = true
  }

  #nextPayload(bytes: Uint8Array, at: number): Uint8Array {
    const { recordBytes, recordLines } = this.#shares
    const isWhole = at === 0 && bytes.length <= recordBytes
    const payload = isWhole ? bytes : bytes.subarray(at, at + recordBytes)
    const isShort = payload.length <= recordLines
    return isShort ? payload : payload.subarray(0, afterLineEnds(payload, recordLines))
  }

  /** One record, whole on disk and counted, or no trace of it: then it answers why. */
  #record(kind: RecordKind, payload: Uint8Array, lines: number, timeMs: number): NotWritten | null {
    if (this.#isClosed) throw new Error("a transcript was written to after its end")
    const segment = this.#segmentFor(kind, payload, lines)
    if (segment.kind !== "open") return segment
    const length = this.#assemble(this.#chain, kind, payload, lines, timeMs)
    const { bytes, chainAfter } = this.#shared.buffer
    if (!writeWhole(segment.fd, bytes, recordStart, length, segment.fileBytes)) return diskFull
    segment.fileBytes += length
    this.#fileBytes += length
    this.#chain.set(chainAfter)
    if (kind !== "resize") this.#totals.add(kind, payload, lines, this.#shared.totals)
    return null
  }

  /**
   * Output that the rest of its own append pushes out again. It is hashed and counted like any
   * other, but never on disk: a budget of a few lines would cost a file for each line of a flood.
   */
  #passBy(stream: StreamName, bytes: Uint8Array, timeMs: number): NotWritten | null {
    const chain = this.#chain.slice()
    const number = (this.#kept.at(-1)?.start.number ?? 0) + 1
    const start = { ...this.#totals.startOf(number), startsAnew: true }
    for (let at = 0; at < bytes.length; at += maxPayloadBytes) {
      const payload = bytes.subarray(at, at + maxPayloadBytes)
      const lines = countLineEnds(payload)
      this.#assemble(chain, stream, payload, lines, timeMs, start.sequence)
      chain.set(this.#shared.buffer.chainAfter)
      start.sequence += payload.length
      start.lines += lines
      start[stream].bytes += payload.length
      start[stream].lines += lines
    }
    const lines = start.lines - this.#totals.lines
    const begun = this.#beginSegment(start, chain)
    if (begun.kind !== "open") return begun
    this.#totals.add(stream, bytes, lines, this.#shared.totals)
    this.#forget(this.#kept.length - 1)
    return null
  }

  #assemble(
    chain: Uint8Array,
    kind: RecordKind,
    payload: Uint8Array,
    lines: number,
    timeMs: number,
    sequence = this.#totals.sequence,
  ): number {
    const header = this.#header
    header.kind = kind
    header.length = payload.length
    header.lines = lines
    header.sequence = sequence
    header.timeMs = Math.max(0, timeMs)
    return this.#shared.buffer.assemble(chain, header, payload)
  }

  #segmentFor(kind: RecordKind, payload: Uint8Array, lines: number): OpenSegment | NotWritten {
    const current = this.#kept.at(-1)
    if (current === undefined) return this.#beginSegment()
    const held = this.#extentSince(current, current.fileBytes)
    const record = {
      bytes: kind === "resize" ? 0 : payload.length,
      lines,
      fileBytes: payload.length + recordOverheadBytes,
    }
    const isFirst = held.bytes === 0 && record.bytes > 0
    return isFirst || fits(this.#shares, held, record) ? current : this.#beginSegment()
  }

  #beginSegment(start?: SegmentHeader, chain = this.#chain): OpenSegment | NotWritten {
    const previous = this.#kept.at(-1)
    const number = previous === undefined ? 0 : previous.start.number + 1
    const segment = createSegment(this.#files, start ?? this.#totals.startOf(number), chain)
    if (segment.kind !== "open") return segment
    if (previous !== undefined) closeSync(previous.fd)
    this.#chain.set(segment.chainAfterHeader)
    this.#kept.push(segment)
    this.#fileBytes += segment.fileBytes
    this.#syncer.begun(segment.start.number)
    return segment
  }

  #forgetOldest(): void {
    let count = 0
    let fileBytes = this.#fileBytes
    for (const segment of this.#kept) {
      const isOnlyOne = count === this.#kept.length - 1
      if (isOnlyOne || !isOver(this.#shares, this.#extentSince(segment, fileBytes))) break
      fileBytes -= segment.fileBytes
      count += 1
    }
    if (count > 0) this.#forget(count)
  }

  // Told before done: after a crash between the two there is more than was told, never less.
  #forget(count: number): void {
    const forgotten = this.#kept.splice(0, count)
    for (const segment of forgotten) this.#fileBytes -= segment.fileBytes
    const oldest = startOf(this.#kept)
    const { sequence, lines } = this.#counted
    addTo(this.#shared.totals.forgotten, oldest.sequence - sequence, oldest.lines - lines)
    this.#counted = oldest
    this.#onForget(this.facts())
    for (const { start } of forgotten) {
      this.#syncer.forgotten(start.number)
      removeFile(segmentPath(this.#files, start.number))
    }
  }

  #endsBefore(index: number, position: Position): boolean {
    const next = this.#kept[index + 1]
    return next !== undefined && next.start.sequence <= position.sequence
  }

  #extentSince(segment: OpenSegment | undefined, fileBytes: number): Extent {
    return {
      bytes: this.#totals.sequence - (segment?.start.sequence ?? 0),
      lines: this.#totals.lines - (segment?.start.lines ?? 0),
      fileBytes,
    }
  }
}
