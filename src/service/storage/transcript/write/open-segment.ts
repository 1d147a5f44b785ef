import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs"
import { isErrno } from "../../../../lib/errno.ts"
import { isShortage } from "../../../../lib/exhaustion.ts"
import { hashSegment } from "../chain.ts"
import {
  hashBytes,
  type SegmentHeader,
  segmentFieldBytes,
  segmentHeaderBytes,
  writeSegmentFields,
} from "../format.ts"
import { removeFile, segmentPath, type TranscriptFiles } from "../segment-files.ts"

/** A segment of the writer's; the newest one is the only file a transcript keeps open. */
export type OpenSegment = {
  readonly kind: "open"
  readonly start: SegmentHeader
  readonly fd: number
  /** Where the next record goes. */
  fileBytes: number
}

type NewSegment = OpenSegment & { readonly chainAfterHeader: Uint8Array }

/** Why nothing was written: then all is as it was. */
export type NotWritten = { kind: "disk-full" } | { kind: "short"; error: unknown }

export const diskFull = { kind: "disk-full" } as const

export function createSegment(
  files: TranscriptFiles,
  start: SegmentHeader,
  chainBefore: Uint8Array,
): NewSegment | NotWritten {
  const header = new Uint8Array(segmentHeaderBytes)
  writeSegmentFields(new DataView(header.buffer), start)
  header.set(chainBefore, segmentFieldBytes)
  const hash = hashSegment(chainBefore, header)
  header.set(hash, segmentFieldBytes + hashBytes)

  const path = segmentPath(files, start.number)
  const fd = openNew(files, path)
  if (typeof fd !== "number") return fd
  let written = false
  try {
    written = writeWhole(fd, header, 0, header.length, 0)
  } finally {
    if (!written) {
      closeSync(fd)
      removeFile(path)
    }
  }
  if (!written) return diskFull
  return { kind: "open", start, fd, fileBytes: header.length, chainAfterHeader: hash }
}

/** The bytes are in the file, or nothing of them is: then it answers false, for want of space. */
export function writeWhole(
  fd: number,
  bytes: Uint8Array,
  from: number,
  length: number,
  position: number,
): boolean {
  let written = 0
  try {
    written = writeSync(fd, bytes, from, length, position)
  } catch (error) {
    ftruncateSync(fd, position)
    if (isDiskFull(error)) return false
    throw error
  }
  // A write to a file falls short for one reason only: the space ended inside it.
  if (written < length) ftruncateSync(fd, position)
  return written === length
}

// Exclusive: a segment that is already there is somebody else's record, never to be written over.
function openNew(files: TranscriptFiles, path: string): number | NotWritten {
  try {
    if (!existsSync(files.directory)) mkdirSync(files.directory, { recursive: true, mode: 0o700 })
    return openSync(path, "wx", 0o600)
  } catch (error) {
    if (isDiskFull(error)) return diskFull
    if (isShortage(error)) return { kind: "short", error }
    throw error
  }
}

function isDiskFull(error: unknown): boolean {
  return isErrno(error, "ENOSPC") || isErrno(error, "EDQUOT")
}
