import { writeFileSync } from "node:fs"
import { z } from "zod"
import { errnoOf, isErrno } from "../../../lib/errno.ts"
import { type OwnedFile, openOwned, readAll, replaceOwned } from "../../../lib/owned-file.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { UntrustedFileError } from "../../../lib/untrusted-file.ts"
import { TokenEntry } from "./token-entry.ts"

/** `message` says what is wrong with which file, and what to do. */
export type TokenFileFailure = {
  kind: "exposed" | "untrusted" | "damaged" | "unreadable" | "unwritable" | "locked" | "full"
  message: string
}

const version = 1
const TokenFile = z.object({ version: z.literal(version), tokens: z.array(TokenEntry) })

const mostBytes = 4 * 1024 * 1024

/** No file is no tokens. One that cannot be trusted or understood is a failure, never "none". */
export function readTokenFile(path: string): Result<TokenEntry[], TokenFileFailure> {
  try {
    using file = openOwned(path, "read")
    return readOpened(file, path)
  } catch (error) {
    if (isErrno(error, "ENOENT")) return ok([])
    if (error instanceof UntrustedFileError) return fail(untrusted(error))
    const errno = errnoOf(error)
    if (errno === null) throw error
    return fail(unreadable(path, errno))
  }
}

function readOpened(file: OwnedFile, path: string): Result<TokenEntry[], TokenFileFailure> {
  if ((file.stat.mode & 0o077) !== 0) return fail(exposed(path))
  return parse(readAll(file, path, mostBytes).toString("utf8"), path)
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
    const text = `${JSON.stringify({ version, tokens }, null, 2)}\n`
    replaceOwned(path, (file) => writeFileSync(file, text), { durable: true })
    return ok(null)
  } catch (error) {
    if (error instanceof UntrustedFileError) return fail(untrusted(error))
    const errno = errnoOf(error)
    if (errno === null) throw error
    return fail(unwritable(path, errno))
  }
}

function exposed(path: string): TokenFileFailure {
  const message =
    `The tokens in ${path} are accessible to others than its owner, so none of them is trusted. ` +
    `If nobody could have changed them, run: chmod 600 ${path}; otherwise remove the file and ` +
    "create new tokens."
  return { kind: "exposed", message }
}

/** Whoever put it there could let anybody in. */
export function untrusted({ message }: UntrustedFileError): TokenFileFailure {
  return { kind: "untrusted", message: `No token is trusted: ${message}` }
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
