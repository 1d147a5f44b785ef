import { closeSync, openSync, readSync } from "node:fs"
import { hashInto, isHashAt } from "../chain.ts"
import { hashBytes, recordOverheadBytes } from "../format.ts"
import { segmentPath, type TranscriptFiles } from "../segment-files.ts"

/** Whether the record at an offset has the hash that its length and bytes make. */
export function isSoundRecord(
  files: TranscriptFiles,
  position: { segment: number; offset: number },
  payloadBytes: number,
): boolean {
  // The hash of what precedes lies before the record, its own behind the payload.
  const bytes = new Uint8Array(hashBytes + recordOverheadBytes + payloadBytes)
  const fd = openSync(segmentPath(files, position.segment), "r")
  try {
    const read = readSync(fd, bytes, 0, bytes.length, position.offset - hashBytes)
    if (read < bytes.length) return false
  } finally {
    closeSync(fd)
  }
  const hashAt = bytes.length - hashBytes
  const hash = new Uint8Array(hashBytes)
  hashInto(bytes.subarray(0, hashAt), hash)
  return isHashAt(bytes, hashAt, hash)
}
