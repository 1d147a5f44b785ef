import { type Count, maxPayloadBytes, type StreamName } from "../../../execution/record.ts"

/**
 * How a transcript lies on disk. A segment file is a header and then records, side by side:
 *
 *   segment  fields (64) ‖ chain before (32) ‖ H = SHA-256(chain before ‖ fields)
 *   record   fields (28) ‖ payload           ‖ H = SHA-256(H of what precedes ‖ fields ‖ payload)
 *
 * A record's H lies directly before the next record, so a check hashes the file's own bytes,
 * uncopied. Integers are big-endian.
 */
export const hashBytes = 32
export const segmentFieldBytes = 64
export const segmentHeaderBytes = segmentFieldBytes + 2 * hashBytes
export const recordFieldBytes = 28
export const recordOverheadBytes = recordFieldBytes + hashBytes

export const maxRecordBytes = maxPayloadBytes + recordOverheadBytes

export const resizePayloadBytes = 4

const magic = [0x63, 0x63, 0x74, 0x72, 0x61, 0x6e, 0x73, 0x01] as const // "cctrans", version 1
const recordMark = 0xcc1e
const kindCodes = { stdout: 1, stderr: 2, resize: 3 } as const

export type RecordKind = StreamName | "resize"

/** The output before a segment; its number says which file it is. */
export type SegmentHeader = {
  number: number
  /** It does not go on where the one before it ended: all older ones are to be forgotten. */
  startsAnew: boolean
  sequence: number
  lines: number
  stdout: Count
  stderr: Count
}

export type RecordHeader = {
  kind: RecordKind
  length: number // of the payload, in bytes
  lines: number // line ends in the payload
  sequence: number // output bytes of both streams before this record
  timeMs: number
}

export function emptyRecordHeader(): RecordHeader {
  return { kind: "stdout", length: 0, lines: 0, sequence: 0, timeMs: 0 }
}

export function writeSegmentFields(view: DataView, header: SegmentHeader): void {
  for (const [index, byte] of magic.entries()) view.setUint8(index, byte)
  view.setUint32(8, header.number)
  view.setUint32(12, header.startsAnew ? 1 : 0)
  setUint53(view, 16, header.sequence)
  setUint53(view, 24, header.lines)
  setUint53(view, 32, header.stdout.bytes)
  setUint53(view, 40, header.stdout.lines)
  setUint53(view, 48, header.stderr.bytes)
  setUint53(view, 56, header.stderr.lines)
}

/** Null when the bytes cannot be the fields of a segment. */
export function readSegmentFields(view: DataView): SegmentHeader | null {
  for (const [index, byte] of magic.entries()) {
    if (view.getUint8(index) !== byte) return null
  }
  const flags = view.getUint32(12)
  const header = {
    number: view.getUint32(8),
    startsAnew: flags === 1,
    sequence: getUint53(view, 16),
    lines: getUint53(view, 24),
    stdout: { bytes: getUint53(view, 32), lines: getUint53(view, 40) },
    stderr: { bytes: getUint53(view, 48), lines: getUint53(view, 56) },
  }
  const sums =
    header.sequence === header.stdout.bytes + header.stderr.bytes &&
    header.lines === header.stdout.lines + header.stderr.lines &&
    header.lines <= header.sequence
  return sums && flags <= 1 && Number.isSafeInteger(header.sequence) ? header : null
}

export function writeRecordFields(view: DataView, at: number, header: RecordHeader): void {
  view.setUint8(at, kindCodes[header.kind])
  view.setUint8(at + 1, 0)
  view.setUint16(at + 2, recordMark)
  view.setUint32(at + 4, header.length)
  view.setUint32(at + 8, header.lines)
  setUint53(view, at + 12, header.sequence)
  setUint53(view, at + 20, header.timeMs)
}

/** Reads into a header that is used again and again; false when these bytes begin no record. */
export function readRecordFields(view: DataView, at: number, into: RecordHeader): boolean {
  if (view.getUint8(at + 1) !== 0 || view.getUint16(at + 2) !== recordMark) return false
  into.length = view.getUint32(at + 4)
  into.lines = view.getUint32(at + 8)
  into.sequence = getUint53(view, at + 12)
  into.timeMs = getUint53(view, at + 20)
  if (into.timeMs > maxTimeMs) return false
  switch (view.getUint8(at)) {
    case kindCodes.stdout:
      into.kind = "stdout"
      break
    case kindCodes.stderr:
      into.kind = "stderr"
      break
    case kindCodes.resize:
      into.kind = "resize"
      return into.length === resizePayloadBytes && into.lines === 0
    default:
      return false
  }
  return into.length > 0 && into.length <= maxPayloadBytes && into.lines <= into.length
}

// A Date reaches no further than this: a larger number in the file is not one the writer wrote.
const maxTimeMs = 8_640_000_000_000_000

// Two 32-bit halves, because BigInt would cost more than everything else about a header.
function setUint53(view: DataView, at: number, value: number): void {
  view.setUint32(at, Math.floor(value / 0x1_0000_0000))
  view.setUint32(at + 4, value % 0x1_0000_0000)
}

function getUint53(view: DataView, at: number): number {
  return view.getUint32(at) * 0x1_0000_0000 + view.getUint32(at + 4)
}
