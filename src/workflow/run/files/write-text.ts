import {
  chmodSync,
  closeSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { isErrno } from "../../../lib/errno.ts"
import { exchangeFiles } from "../../../service/os/libc.ts"

/**
 * Puts another text in the place of `before`; false where something else stands there by now, which
 * then stays. Whoever reads meanwhile finds the one or the other, whole.
 */
export function replaceText(path: string, before: Uint8Array, after: Uint8Array): boolean {
  const stat = statSync(path)
  const draft = writeDraft(path, after, stat)
  try {
    if (!isSame(path, before)) return false
    if (!exchangeFiles(draft, path)) {
      renameSync(draft, path)
      return true
    }
    if (isSame(draft, before)) return true
    // Somebody has written in the moment before: that is theirs, and is kept.
    exchangeFiles(draft, path)
    return false
  } finally {
    rmSync(draft, { force: true })
    syncDirectory(path)
  }
}

/** A new file, or one in the place of another. */
export function writeText(path: string, text: Uint8Array): void {
  const stat = statSync(path, { throwIfNoEntry: false })
  const draft = writeDraft(path, text, stat)
  renameSync(draft, path)
  syncDirectory(path)
}

const draftEnding = ".cc-executor-draft"

/** What git is to leave out: drafts of other runners come and go while it looks. */
export const draftPattern = `**/.*${draftEnding}`

/** Who holds the lock of the work finds one only where a runner was killed. */
function draftOf(path: string): string {
  return join(dirname(path), `.${basename(path)}${draftEnding}`)
}

function writeDraft(path: string, text: Uint8Array, like: Stats | undefined): string {
  const draft = draftOf(path)
  rmSync(draft, { force: true })
  const file = openSync(draft, "wx", like?.mode ?? 0o644)
  try {
    for (let at = 0; at < text.length; ) at += writeSync(file, text, at)
    if (like !== undefined) keepOwner(file, like)
    fsyncSync(file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  if (like !== undefined) chmodSync(draft, like.mode)
  return draft
}

function keepOwner(file: number, { uid, gid }: Stats): void {
  try {
    fchownSync(file, uid, gid)
  } catch (error) {
    if (!isErrno(error, "EPERM")) throw error // it is somebody else's; now it is ours
  }
}

function isSame(path: string, bytes: Uint8Array): boolean {
  return readFileSync(path).equals(bytes)
}

function syncDirectory(path: string): void {
  const directory = openSync(dirname(path), "r")
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
