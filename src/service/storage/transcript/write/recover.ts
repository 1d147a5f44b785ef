import { ftruncateSync, rmSync } from "node:fs"
import { openOwned } from "../../../../lib/owned-file.ts"
import type { RecoveredTranscript } from "../../../keeper/ports.ts"
import { hexOf, streamHashers } from "../chain.ts"
import { ChainWalk } from "../chain-walk.ts"
import {
  emptyRecordHeader,
  readRecordFields,
  recordFieldBytes,
  recordOverheadBytes,
  segmentHeaderBytes,
} from "../format.ts"
import {
  fileSize,
  readAt,
  readSegmentHeader,
  removeFile,
  segmentNumbers,
  segmentPath,
  type TranscriptFiles,
} from "../segment-files.ts"

/**
 * What a crash left of a transcript. Only an unfinished tail is cut off: damage anywhere else stays
 * as it is, for whoever wants to look at it, and the facts end before it. Either way
 * `truncatedBytes` are the bytes of files that the facts leave out.
 */
export function recoverTranscript(files: TranscriptFiles): RecoveredTranscript | null {
  const found = segmentNumbers(files) ?? []
  const cut = removeUnfinishedSegment(files, found)
  const numbers = forgetOlder(files, cut.numbers)
  const [first] = numbers
  const last = numbers.at(-1)
  if (first === undefined || last === undefined) {
    rmSync(files.directory, { recursive: true, force: true })
    return null
  }

  const lastBytes = fileSize(segmentPath(files, last)) ?? 0
  const walk = new ChainWalk(files, first, { segment: last, offset: lastBytes })
  const { stdout, stderr } = streamHashers()
  while (walk.next()) {
    if (walk.record.kind === "stdout") stdout.update(walk.payload)
    if (walk.record.kind === "stderr") stderr.update(walk.payload)
  }

  const isComplete = walk.end?.kind === "complete"
  const isCut = !isComplete && walk.segment === last && cutUnfinishedRecord(files, walk, lastBytes)
  const isKnown = (isComplete || isCut) && walk.start.sequence === 0
  return {
    facts: {
      start: walk.start,
      end: walk.position(),
      stdout: walk.stdout,
      stderr: walk.stderr,
      dropped: { bytes: walk.start.sequence, lines: walk.start.lines },
    },
    // The hash of a stream needs all of the stream.
    hashes: isKnown
      ? { chain: hexOf(walk.chain), stdout: stdout.digest("hex"), stderr: stderr.digest("hex") }
      : null,
    truncatedBytes:
      cut.bytes + (isCut ? lastBytes - walk.offset : bytesAfter(files, walk, numbers)),
  }
}

/**
 * A crash while a segment was begun leaves less than a header, or the zeros of a header never
 * written.
 */
function removeUnfinishedSegment(
  files: TranscriptFiles,
  numbers: number[],
): { numbers: number[]; bytes: number } {
  const last = numbers.at(-1)
  if (last === undefined) return { numbers, bytes: 0 }
  const path = segmentPath(files, last)
  const bytes = fileSize(path) ?? 0
  if (bytes >= segmentHeaderBytes && !isZeroFrom(path, 0)) return { numbers, bytes: 0 }
  removeFile(path)
  return { numbers: numbers.slice(0, -1), bytes }
}

/** Finishes what a crash interrupted: the newest segment that starts anew is the oldest to keep. */
function forgetOlder(files: TranscriptFiles, numbers: number[]): number[] {
  const first = numbers.findLastIndex((number) => {
    const header = readSegmentHeader(files, number)
    return typeof header !== "string" && header.startsAnew
  })
  for (const number of numbers.slice(0, Math.max(0, first))) removeFile(segmentPath(files, number))
  return numbers.slice(Math.max(0, first))
}

/**
 * Cuts the last record off if its write was cut short. Whole, but with a hash that does not fit, it
 * is cut off as well when nothing follows: after a loss of power, pages can be missing before the
 * end.
 */
function cutUnfinishedRecord(files: TranscriptFiles, walk: ChainWalk, fileBytes: number): boolean {
  if (walk.offset === 0) return false
  const path = segmentPath(files, walk.segment)
  const fields = new Uint8Array(recordFieldBytes)
  const read = readAt(path, fields, 0, fields.length, walk.offset) ?? 0
  const record = emptyRecordHeader()
  const isRecord =
    readRecordFields(new DataView(fields.buffer), 0, record) && record.sequence === walk.sequence
  const recordEnd = walk.offset + (isRecord ? recordOverheadBytes + record.length : 0)
  const isTail = read < recordFieldBytes || recordEnd >= fileBytes || isZeroFrom(path, recordEnd)
  if (isTail) truncate(path, walk.offset)
  return isTail
}

function truncate(path: string, bytes: number): void {
  using file = openOwned(path, "change")
  ftruncateSync(file.fd, bytes)
}

function isZeroFrom(path: string, offset: number): boolean {
  const bytes = new Uint8Array(64 * 1024)
  for (let at = offset; ; ) {
    const read = readAt(path, bytes, 0, bytes.length, at) ?? 0
    if (read === 0) return true
    if (bytes.subarray(0, read).some((byte) => byte !== 0)) return false
    at += read
  }
}

function bytesAfter(files: TranscriptFiles, walk: ChainWalk, numbers: number[]): number {
  const sizes = numbers
    .filter((number) => number >= walk.segment)
    .map((number) => fileSize(segmentPath(files, number)) ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0) - walk.offset
}
