import { ftruncateSync, lstatSync, readSync } from "node:fs"
import { removeOwned, renameOwned } from "../../lib/owned-file.ts"
import { lineEnd } from "../../lib/vector/line-ends.ts"
import {
  type AuditFile,
  auditFiles,
  damagedFile,
  mostLineBytes,
  openAuditFile,
  type SetAsideFile,
} from "./audit-files.ts"
import { type Link, origin, readLine } from "./chain.ts"

export type ChainEnd = {
  link: Link
  /** The file to go on with; null when a new one is needed. */
  file: AuditFile | null
  /** What is no part of the trail any more, newest first. */
  cuts: Cut[]
}

/** Bytes after the last sound line of a file; of one without any, all, and where they are kept. */
export type Cut = { bytes: number; setAside: string | null }

/** Where the chain ends, after a crash too: what comes after its last sound line is cut off. */
export function mendEnd(directory: string): ChainEnd {
  const cuts: Cut[] = []
  for (const file of auditFiles(directory).toReversed()) {
    const { link, cutBytes, isBegun } = cutUnsound(file)
    if (link === null && !isBegun) {
      cuts.push({ bytes: cutBytes, setAside: setAside(directory, file).name })
      continue
    }
    if (cutBytes > 0) cuts.push({ bytes: cutBytes, setAside: null })
    if (link !== null) return { link, file, cuts }
    // Nobody came to write its first line: the next file takes its place.
    removeOwned(file.path)
  }
  return { link: origin, file: null, cuts }
}

type Found = {
  /** The last sound line; null where there is none. */
  link: Link | null
  cutBytes: number
  /** Whether all there is could be the beginning of a first line. */
  isBegun: boolean
}

function cutUnsound(file: AuditFile): Found {
  using opened = openAuditFile(file, "change")
  const { fd } = opened
  const { size } = opened.stat
  const last = lastSound(fd, size)
  if (last === null) return { link: null, cutBytes: size, isBegun: isBeginning(fd, size) }
  if (last.end < size) ftruncateSync(fd, last.end)
  return { link: last.link, cutBytes: size - last.end, isBegun: true }
}

type Sound = { link: Link; end: number }

/**
 * However far back it is, with no more in memory than two lines may be long: the windows overlap by
 * one, so that every line is whole in one of them.
 */
function lastSound(fd: number, size: number): Sound | null {
  const window = Buffer.alloc(2 * mostLineBytes)
  for (let end = size; end > 0; end -= mostLineBytes) {
    const from = Math.max(0, end - window.length)
    const length = readSync(fd, window, 0, end - from, from)
    const found = lastSoundIn(window.subarray(0, length), from)
    if (found !== null || from === 0) return found
  }
  return null
}

function lastSoundIn(bytes: Buffer, from: number): Sound | null {
  let end = bytes.lastIndexOf(lineEnd)
  while (end >= 0) {
    const before = end === 0 ? -1 : bytes.lastIndexOf(lineEnd, end - 1)
    // The first one may have begun before.
    const isWhole = before >= 0 || from === 0
    const line = isWhole ? readLine(bytes.subarray(before + 1, end)) : null
    if (line !== null) {
      const { number, hash } = line
      return { link: { number, hash }, end: from + end + 1 }
    }
    end = before
  }
  return null
}

const beginning = '{"number":'

function isBeginning(fd: number, size: number): boolean {
  if (size >= mostLineBytes) return false
  const bytes = Buffer.alloc(size)
  readSync(fd, bytes, 0, size, 0)
  const begins = bytes.subarray(0, beginning.length).toString("latin1")
  return beginning.startsWith(begins) && !bytes.includes(lineEnd)
}

/** Under a name that is no part of the trail, for somebody to look at. */
function setAside(directory: string, file: AuditFile): SetAsideFile {
  for (let nth = 1; ; nth += 1) {
    const aside = damagedFile(directory, file.ordinal, nth)
    if (lstatSync(aside.path, { throwIfNoEntry: false }) !== undefined) continue
    renameOwned(file.path, aside.path)
    return aside
  }
}
