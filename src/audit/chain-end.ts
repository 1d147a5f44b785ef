import { closeSync, fstatSync, ftruncateSync, openSync, readSync, rmSync } from "node:fs"
import { type AuditFile, auditFiles, mostLineBytes } from "./audit-files.ts"
import { type Link, origin, readLine, splitLines } from "./chain.ts"

export type ChainEnd = {
  link: Link
  /** The file to go on with; null when a new one is needed. */
  file: AuditFile | null
  /** Of a line that was not finished, and is gone now. */
  cutBytes: number
  /** Whether the last line could be understood: where not, the chain begins anew. */
  isSound: boolean
}

/** Where the chain ends, after a crash too: what is unfinished there is cut off. */
export function mendEnd(directory: string): ChainEnd {
  let cutBytes = 0
  for (const file of auditFiles(directory).toReversed()) {
    const end = cutUnfinished(file)
    cutBytes += end.cutBytes
    if (end.lastLine !== null) {
      const line = readLine(end.lastLine)
      if (line !== null) return { link: line, file, cutBytes, isSound: true }
      return { link: origin, file: null, cutBytes, isSound: false }
    }
    // Nobody came to write its first line: the next file takes its place.
    rmSync(file.path)
  }
  return { link: origin, file: null, cutBytes, isSound: true }
}

function cutUnfinished(file: AuditFile): { lastLine: Uint8Array | null; cutBytes: number } {
  const fd = openSync(file.path, "r+")
  try {
    const { size } = fstatSync(fd)
    const tail = Buffer.alloc(Math.min(size, 2 * mostLineBytes))
    readSync(fd, tail, 0, tail.length, size - tail.length)
    const { lines, rest } = splitLines(tail)
    if (rest.length > 0) ftruncateSync(fd, size - rest.length)
    return { lastLine: lines.at(-1) ?? null, cutBytes: rest.length }
  } finally {
    closeSync(fd)
  }
}
