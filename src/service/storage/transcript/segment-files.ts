import { closeSync, lstatSync, readdirSync, readSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { ExecutionId } from "../../../execution/id.ts"
import { isErrno } from "../../../lib/errno.ts"
import { openRegular } from "../../../lib/owned-file.ts"
import { UntrustedFileError } from "../../../lib/untrusted-file.ts"
import { readSegmentFields, type SegmentHeader, segmentHeaderBytes } from "./format.ts"

/**
 * Where the files of one transcript are, and what can be asked of them without a lasting handle.
 */
export type TranscriptFiles = {
  readonly directory: string
  readonly executionId: ExecutionId
}

export function filesOf(transcriptsDirectory: string, id: ExecutionId): TranscriptFiles {
  return { directory: join(transcriptsDirectory, id), executionId: id }
}

export function segmentPath(files: TranscriptFiles, number: number): string {
  return `${files.directory}/${String(number).padStart(8, "0")}.seg`
}

/** Ascending; null when there is no such directory, or something else in its place. */
export function segmentNumbers(files: TranscriptFiles): number[] | null {
  try {
    return readdirSync(files.directory)
      .flatMap((name) => {
        const digits = /^(\d{8,10})\.seg$/.exec(name)?.[1]
        return digits === undefined ? [] : [Number(digits)]
      })
      .toSorted((one, other) => one - other)
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return null
    throw error
  }
}

/** Opens, reads and closes; answers how many bytes there were, or null without the file. */
export function readAt(
  path: string,
  into: Uint8Array,
  at: number,
  length: number,
  position: number,
): number | null {
  const fd = openForReading(path)
  if (fd === null) return null
  try {
    return readSync(fd, into, at, length, position)
  } finally {
    closeSync(fd)
  }
}

/** What is not to be trusted, a link or a pipe in its place, is as good as no segment. */
export function openForReading(path: string): number | null {
  try {
    return openRegular(path)
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR") || error instanceof UntrustedFileError) return null
    throw error
  }
}

export function fileSize(path: string): number | null {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true ? stat.size : null
}

export function removeFile(path: string): void {
  rmSync(path, { force: true })
}

/** What a segment says of itself, without a check of its hash. */
export function readSegmentHeader(
  files: TranscriptFiles,
  number: number,
): SegmentHeader | "missing" | "damaged" {
  const bytes = new Uint8Array(segmentHeaderBytes)
  const read = readAt(segmentPath(files, number), bytes, 0, bytes.length, 0)
  if (read === null) return "missing"
  if (read < segmentHeaderBytes) return "damaged"
  const header = readSegmentFields(new DataView(bytes.buffer))
  return header === null || header.number !== number ? "damaged" : header
}
