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

/** A record and where it begins. Both are used again for the next one. */
export type ScannedRecord = { readonly header: RecordHeader; readonly at: Position }

// Small records come many at a time; of large ones only the header is read.
const stepBytes = 4096
const smallRecordBytes = 1024

/**
 * The records of one segment up to a place, by their headers alone. It ends early where the headers
 * no longer make sense: whoever reads there is told what is wrong.
 */
export function* scanSegment(
  files: TranscriptFiles,
  segment: SegmentHeader,
  end: Position,
): Generator<ScannedRecord, void, void> {
  const fd = openForReading(segmentPath(files, segment.number))
  if (fd === null) return
  try {
    const { number, sequence, lines } = segment
    const at = { segment: number, offset: segmentHeaderBytes, sequence, lines }
    const limit = number === end.segment ? end.offset : Number.POSITIVE_INFINITY
    const header = emptyRecordHeader()
    const window = new Uint8Array(stepBytes)
    const view = new DataView(window.buffer)
    let windowStart = 0
    let windowEnd = 0
    while (at.offset < limit) {
      if (at.offset + recordFieldBytes > windowEnd) {
        windowStart = at.offset
        const wanted = header.length > smallRecordBytes ? recordFieldBytes : stepBytes
        windowEnd = windowStart + readSync(fd, window, 0, wanted, windowStart)
        if (at.offset + recordFieldBytes > windowEnd) return
      }
      const isRecord = readRecordFields(view, at.offset - windowStart, header)
      if (!isRecord || header.sequence !== at.sequence) return
      yield { header, at }
      at.offset += recordOverheadBytes + header.length
      if (header.kind === "resize") continue
      at.sequence += header.length
      at.lines += header.lines
    }
  } finally {
    closeSync(fd)
  }
}
