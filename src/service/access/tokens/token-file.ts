import { constants, fchownSync, fstatSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { z } from "zod"
import { errnoOf, isErrno } from "../../../lib/errno.ts"
import { openFile } from "../../../lib/open-file.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { writeWhole } from "../../../lib/write-whole.ts"
import { TokenEntry } from "./token-entry.ts"

/** `message` says what is wrong with which file, and what to do. */
export type TokenFileFailure = {
  kind: "exposed" | "foreign" | "damaged" | "unreadable" | "unwritable" | "locked" | "full"
  message: string
}

const version = 1
const TokenFile = z.object({ version: z.literal(version), tokens: z.array(TokenEntry) })

const mostBytes = 4 * 1024 * 1024

// A link would lead to somebody else's file, and a pipe would be waited for.
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** No file is no tokens. One that cannot be trusted or understood is a failure, never "none". */
export function readTokenFile(path: string): Result<TokenEntry[], TokenFileFailure> {
  try {
    using file = openFile(path, readFlags)
    return readOpened(file.fd, path)
  } catch (error) {
    if (isErrno(error, "ENOENT")) return ok([])
    const errno = errnoOf(error)
    if (errno === null) throw error
    return fail(unreadable(path, errno))
  }
}

function readOpened(file: number, path: string): Result<TokenEntry[], TokenFileFailure> {
  // Asked of the open file: a path could lead to another one by the time it is read.
  const stat = fstatSync(file)
  if (!stat.isFile()) return fail(damaged(path, "it is not a regular file"))
  if (![process.geteuid?.(), 0, statSync(dirname(path)).uid].includes(stat.uid)) {
    return fail(foreign(path, stat.uid))
  }
  if ((stat.mode & 0o077) !== 0) return fail(exposed(path))
  if (stat.size > mostBytes) return fail(damaged(path, `it is larger than ${mostBytes} bytes`))
  return parse(readFileSync(file, "utf8"), path)
}

function parse(text: string, path: string): Result<TokenEntry[], TokenFileFailure> {
  const json = tryParseJson(text)
  if (json === undefined) return fail(damaged(path, "it is not JSON"))
  const read = TokenFile.safeParse(json)
  if (!read.success) {
    const [issue] = read.error.issues
    return fail(damaged(path, `${issue?.path.join(".")}: ${issue?.message}`))
  }
  const { tokens } = read.data
  const ids = new Set(tokens.map(({ id }) => id))
  return ids.size === tokens.length ? ok(tokens) : fail(damaged(path, "an id is listed twice"))
}

/** Whole or not at all. Only the holder of the tokens' lock may call it. */
export function writeTokenFile(
  path: string,
  tokens: readonly TokenEntry[],
): Result<null, TokenFileFailure> {
  try {
    writeWhole(path, (file) => {
      writeFileSync(file, `${JSON.stringify({ version, tokens }, null, 2)}\n`)
      giveToOwner(file, dirname(path))
    })
    return ok(null)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    return fail(unwritable(path, errno))
  }
}

/**
 * An administrator makes tokens for a service that runs as another user: what root made there
 * alone would be kept from that service. Only for a file that was made just now: in a directory of
 * somebody else's, any other may be a link to a file that must not be given away.
 */
export function giveToOwner(file: number, directory: string): void {
  const { uid, gid } = statSync(directory)
  if (process.geteuid?.() === 0 && uid !== 0) fchownSync(file, uid, gid)
}

function exposed(path: string): TokenFileFailure {
  const message =
    `The tokens in ${path} are accessible to others than its owner, so none of them is trusted. ` +
    `If nobody could have changed them, run: chmod 600 ${path}; otherwise remove the file and ` +
    "create new tokens."
  return { kind: "exposed", message }
}

function foreign(path: string, uid: number): TokenFileFailure {
  const message =
    `The tokens in ${path} belong to user ${uid}, who could let anybody in, so none is trusted. ` +
    "Remove the file and create new tokens, or chown it to the service's user."
  return { kind: "foreign", message }
}

function damaged(path: string, why: string): TokenFileFailure {
  const message =
    `The tokens in ${path} are not valid: ${why}. ` +
    "Restore the file from a backup, or remove it and create new tokens."
  return { kind: "damaged", message }
}

function unreadable(path: string, errno: string): TokenFileFailure {
  const message =
    `The tokens in ${path} cannot be read (${errno}). ` +
    "They belong to the service's user: run this as that user, or chown the file."
  return { kind: "unreadable", message }
}

function unwritable(path: string, errno: string): TokenFileFailure {
  const message =
    `The tokens in ${path} cannot be written (${errno}) and were not changed. ` +
    "Check the disk, and who owns the directory. Removing the file revokes all tokens."
  return { kind: "unwritable", message }
}
