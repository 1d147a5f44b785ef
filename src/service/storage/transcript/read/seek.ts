import {
  maxPayloadBytes,
  type Position,
  type StreamName,
  type TranscriptFacts,
} from "../../../../execution/record.ts"
import { afterLineEnds, countLineEnds, lineEnd } from "../../../../lib/vector/line-ends.ts"
import type { ReadPosition } from "../../../gateway/ports.ts"
import {
  type RecordHeader,
  recordFieldBytes,
  recordOverheadBytes,
  type SegmentHeader,
} from "../format.ts"
import { readAt, readSegmentHeader, segmentPath, type TranscriptFiles } from "../segment-files.ts"
import { scanSegment } from "./record-scan.ts"

/**
 * Places found by what is there, not by a cursor. Where segments are gone or damaged the oldest
 * place is the answer: reading from there says what happened.
 */

/** The beginning of the line so many lines before the end; an unfinished last line is a line. */
export function seekTail(
  files: TranscriptFiles,
  facts: TranscriptFacts,
  lines: number,
): ReadPosition {
  if (lines <= 0) return readPositionAt(facts.end)
  const unfinished = endsInsideLine(files, facts) ? 1 : 0
  return afterLine(files, facts, facts.end.lines + unfinished - lines)
}

/** The byte so many bytes before the end, wherever that is in a line. */
export function seekTailBytes(
  files: TranscriptFiles,
  facts: TranscriptFacts,
  bytes: number,
): ReadPosition {
  const sequence = facts.end.sequence - bytes
  if (bytes <= 0) return readPositionAt(facts.end)
  if (sequence <= facts.start.sequence) return readPositionAt(facts.start)
  const segment = lastSegment(files, facts, (header) => header.sequence <= sequence)
  if (segment === null) return readPositionAt(facts.start)
  for (const { header, at } of scanSegment(files, segment, facts.end)) {
    if (header.kind === "resize" || at.sequence + header.length <= sequence) continue
    const inside = sequence - at.sequence
    const lines = countLineEnds(readPayload(files, header, at).subarray(0, inside))
    return positionInside(header, at, inside, at.lines + lines)
  }
  return readPositionAt(facts.end)
}

export function seekTime(files: TranscriptFiles, facts: TranscriptFacts, time: Date): ReadPosition {
  const timeMs = time.getTime()
  const found = lastSegment(files, facts, (header) => {
    for (const first of scanSegment(files, header, facts.end)) return first.header.timeMs < timeMs
    return false
  })
  if (found === null) return readPositionAt(facts.start)
  for (let segment = found.number; segment <= facts.end.segment; segment += 1) {
    const header = readSegmentHeader(files, segment)
    if (typeof header === "string") return readPositionAt(facts.start)
    for (const record of scanSegment(files, header, facts.end)) {
      if (record.header.timeMs >= timeMs) return readPositionAt(record.at)
    }
  }
  return readPositionAt(facts.end)
}

/**
 * Where in the order of both streams a byte of one stream is; null when it is not kept any more.
 */
export function locateByte(
  files: TranscriptFiles,
  facts: TranscriptFacts,
  stream: StreamName,
  offset: number,
): { sequence: number; timeMs: number } | null {
  const segment = lastSegment(files, facts, (header) => header[stream].bytes <= offset)
  if (segment === null) return null
  let streamBytes = segment[stream].bytes
  for (const { header, at } of scanSegment(files, segment, facts.end)) {
    if (header.kind !== stream) continue
    if (offset < streamBytes + header.length) {
      return { sequence: at.sequence + offset - streamBytes, timeMs: header.timeMs }
    }
    streamBytes += header.length
  }
  return null
}

/** The place directly after a line end, counted from the beginning of everything. */
export function afterLine(
  files: TranscriptFiles,
  facts: TranscriptFacts,
  line: number,
): ReadPosition {
  if (line <= facts.start.lines) return readPositionAt(facts.start)
  if (line > facts.end.lines) return readPositionAt(facts.end)
  const segment = lastSegment(files, facts, (header) => header.lines < line)
  if (segment === null) return readPositionAt(facts.start)
  for (const { header, at } of scanSegment(files, segment, facts.end)) {
    if (at.lines + header.lines < line) continue
    const inside = afterLineEnds(readPayload(files, header, at), line - at.lines)
    return positionInside(header, at, inside, line)
  }
  return readPositionAt(facts.start)
}

function positionInside(
  header: RecordHeader,
  at: Position,
  inside: number,
  lines: number,
): ReadPosition {
  const sequence = at.sequence + inside
  return inside < header.length
    ? { segment: at.segment, offset: at.offset, sequence, lines, inside }
    : {
        segment: at.segment,
        offset: at.offset + recordOverheadBytes + header.length,
        sequence,
        lines,
        inside: 0,
      }
}

function endsInsideLine(files: TranscriptFiles, facts: TranscriptFacts): boolean {
  for (let number = facts.end.segment; number >= facts.start.segment; number -= 1) {
    const segment = readSegmentHeader(files, number)
    if (typeof segment === "string") return false
    const last = lastOutput(files, segment, facts.end)
    if (last !== null) return last !== lineEnd
  }
  return false
}

function lastOutput(files: TranscriptFiles, segment: SegmentHeader, end: Position): number | null {
  let lastByteAt: number | null = null
  for (const { header, at } of scanSegment(files, segment, end)) {
    if (header.kind !== "resize") lastByteAt = at.offset + recordFieldBytes + header.length - 1
  }
  if (lastByteAt === null) return null
  const byte = new Uint8Array(1)
  readAt(segmentPath(files, segment.number), byte, 0, 1, lastByteAt)
  return byte[0] ?? null
}

function readPayload(files: TranscriptFiles, header: RecordHeader, at: Position): Uint8Array {
  const bytes = new Uint8Array(Math.min(header.length, maxPayloadBytes))
  readAt(segmentPath(files, at.segment), bytes, 0, bytes.length, at.offset + recordFieldBytes)
  return bytes
}

/**
 * The last segment of which something holds that held of all before it; the first if of none. Null
 * where it cannot be read.
 */
export function lastSegment(
  files: TranscriptFiles,
  facts: TranscriptFacts,
  holds: (header: SegmentHeader) => boolean,
): SegmentHeader | null {
  let low = facts.start.segment
  let high = facts.end.segment
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const header = readSegmentHeader(files, middle)
    const isSo = typeof header === "string" ? header === "missing" : holds(header)
    if (isSo) low = middle
    else high = middle - 1
  }
  const found = readSegmentHeader(files, low)
  return typeof found === "string" ? null : found
}

function readPositionAt(position: Position): ReadPosition {
  const { segment, offset, sequence, lines } = position
  return { segment, offset, sequence, lines, inside: 0 }
}
