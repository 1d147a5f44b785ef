import { writeFileSync } from "node:fs"
import type { Scope } from "../../../execution/scope.ts"
import { errnoOf } from "../../../lib/errno.ts"
import { readOwned, replaceOwned } from "../../../lib/owned-file.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { UntrustedFileError } from "../../../lib/untrusted-file.ts"
import { statePathsIn } from "../../storage/state-paths.ts"
import { changeTokens, type LockPort } from "./change-tokens.ts"
import { type Random, readToken, tokenText } from "./token.ts"
import type { TokenEntry } from "./token-entry.ts"
import { type TokenFileFailure, untrusted } from "./token-file.ts"
import { makeToken, withToken } from "./token-list.ts"

/** In whose name its bearers act. A later one has the same, so that executions stay theirs. */
const name = "made-token"
const scopes: readonly Scope[] = ["execute", "control", "read"]

/**
 * Makes a token that a service needs to be of use, and keeps it as it is, for `token show`: there
 * is nobody else to show it to. For everything else it is a token like those of `token create`.
 */
export async function makeOwnToken(
  stateDirectory: string,
  lock: LockPort,
  now: Date,
  random: Random,
): Promise<Result<TokenEntry, TokenFileFailure>> {
  const { token, entry } = makeToken({ name, scopes, ttlMs: null }, now, random)
  const changed = await changeTokens(stateDirectory, lock, (tokens) => {
    const added = withToken(tokens, entry, now)
    if (!added.ok) return added
    // Before its hash: a token that counts, but that nobody knows, would never be made again.
    const kept = writeMadeToken(stateDirectory, tokenText(token))
    return kept.ok ? added : kept
  })
  return changed.ok ? ok(entry) : changed
}

function writeMadeToken(stateDirectory: string, text: string): Result<null, TokenFileFailure> {
  const { madeToken: path } = statePathsIn(stateDirectory)
  try {
    replaceOwned(path, (file) => writeFileSync(file, `${text}\n`), { durable: true })
    return ok(null)
  } catch (error) {
    if (error instanceof UntrustedFileError) return fail(untrusted(error))
    const errno = errnoOf(error)
    if (errno === null) throw error
    const message =
      `The token that the service makes cannot be written to ${path} (${errno}). ` +
      "Check the disk, and who owns the directory."
    return fail({ kind: "unwritable", message })
  }
}

const mostBytes = 1024

/** The token that was made last, whether it still counts or not; null where none was made. */
export function readMadeToken(stateDirectory: string): Result<string | null, TokenFileFailure> {
  const { madeToken: path } = statePathsIn(stateDirectory)
  try {
    const text = readOwned(path, mostBytes)?.toString("utf8").trim() ?? null
    return text !== null && readToken(text) === null ? fail(damaged(path)) : ok(text)
  } catch (error) {
    if (error instanceof UntrustedFileError) return fail(untrusted(error))
    const errno = errnoOf(error)
    if (errno === null) throw error
    return fail(unreadable(path, errno))
  }
}

function damaged(path: string): TokenFileFailure {
  const message =
    `There is no complete token in ${path}. ` +
    "Create another one with `cc-executor token create --name NAME`."
  return { kind: "damaged", message }
}

function unreadable(path: string, errno: string): TokenFileFailure {
  const message =
    `The token in ${path} cannot be read (${errno}). ` +
    "It belongs to the service's user: run this as that user."
  return { kind: "unreadable", message }
}
