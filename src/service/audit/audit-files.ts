import { readdirSync, readSync } from "node:fs"
import { join } from "node:path"
import { isErrno, messageOf } from "../../lib/errno.ts"
import {
  type Access,
  checkOwnedDirectory,
  type OwnedFile,
  openOwned,
} from "../../lib/owned-file.ts"
import { isFileTrouble, UntrustedFileError } from "../../lib/untrusted-file.ts"
import { type ReadLine, readLine, splitLines } from "./chain.ts"

/** `audit/00000007.jsonl` is the seventh file of its directory. */
export type AuditFile = { ordinal: number; name: string; path: string }

/** One in which the service found nothing that it could go on with: no part of the trail. */
export type SetAsideFile = { name: string; path: string }

/** Longer than any line: its strings are cut, and each of their characters may become six. */
export const mostLineBytes = 128 * 1024

export function auditFile(directory: string, ordinal: number): AuditFile {
  const name = `${digitsOf(ordinal)}.jsonl`
  return { ordinal, name, path: join(directory, name) }
}

/** `audit/00000007.damaged-1.jsonl` was the seventh file once. */
export function damagedFile(directory: string, ordinal: number, nth: number): SetAsideFile {
  const name = `${digitsOf(ordinal)}.damaged-${nth}.jsonl`
  return { name, path: join(directory, name) }
}

/** Their names, oldest first. */
export function damagedFiles(directory: string): string[] {
  return namesIn(directory)
    .filter((name) => /^\d{8,}\.damaged-\d+\.jsonl$/.test(name))
    .toSorted()
}

/** Oldest first; none where there is no directory. */
export function auditFiles(directory: string): AuditFile[] {
  const ordinals = namesIn(directory).flatMap((name) => {
    const digits = /^(\d{8,})\.jsonl$/.exec(name)?.[1]
    return digits === undefined ? [] : [Number(digits)]
  })
  return ordinals.toSorted((a, b) => a - b).map((ordinal) => auditFile(directory, ordinal))
}

/** `--audit-file-bytes` allows no more than a gibibyte, and a line may come on top of it. */
const mostFileBytes = 1024 ** 3 + mostLineBytes

/** Why the newest file, which would be gone on with, cannot be opened; null where it can. */
export function auditProblem(directory: string): string | null {
  try {
    const newest = auditFiles(directory).at(-1)
    if (newest !== undefined) openAuditFile(newest, "change")[Symbol.dispose]()
    return null
  } catch (error) {
    if (!isFileTrouble(error)) throw error
    return messageOf(error)
  }
}

export function openAuditFile({ path }: AuditFile, access: Access): OwnedFile {
  const file = openOwned(path, access)
  if (file.stat.size <= mostFileBytes) return file
  file[Symbol.dispose]()
  throw new UntrustedFileError(
    `${path} is larger than any file of an audit trail. Find out who put it there, then remove it.`,
  )
}

/** The first line, null when it cannot be understood. */
export function firstLine(file: AuditFile): ReadLine | null {
  using opened = openAuditFile(file, "read")
  const bytes = Buffer.alloc(mostLineBytes)
  const length = readSync(opened.fd, bytes, 0, bytes.length, 0)
  const [line] = splitLines(bytes.subarray(0, length)).lines
  return line === undefined ? null : readLine(line)
}

function digitsOf(ordinal: number): string {
  return String(ordinal).padStart(8, "0")
}

function namesIn(directory: string): string[] {
  try {
    checkOwnedDirectory(directory)
    return readdirSync(directory)
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error
    return []
  }
}
