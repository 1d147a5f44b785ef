import { constants, fstatSync, readFileSync } from "node:fs"
import type { Scope } from "../../../execution/scope.ts"
import { errnoOf } from "../../../lib/errno.ts"
import { openFile } from "../../../lib/open-file.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { readToken, secretHash } from "./token.ts"
import type { TokenEntry } from "./token-entry.ts"
import type { TokenFileFailure } from "./token-file.ts"
import type { TokenSource } from "./watched-tokens.ts"

/** A file with whole tokens, as a platform hands secrets to what it runs. */
export type AcceptedTokens = { path: string; scopes: readonly Scope[] }

/** In whose name their bearers act. Two tokens overlap while one is replaced by the other. */
const principal = "token-file"

const mostTokens = 100
const mostBytes = 64 * 1024

// Platforms hand secrets out as links, so these are followed. A pipe would be waited for.
const readFlags = constants.O_RDONLY | constants.O_NONBLOCK

export function acceptedTokenSource(accepted: AcceptedTokens): TokenSource {
  const { path } = accepted
  return { path, followsLinks: true, read: () => readAcceptedTokens(accepted) }
}

/** Nothing of what it holds is in a failure: those are logged. */
export function readAcceptedTokens(
  accepted: AcceptedTokens,
): Result<TokenEntry[], TokenFileFailure> {
  const { path } = accepted
  try {
    using file = openFile(path, readFlags)
    return readOpened(file.fd, accepted)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    return fail(unreadable(path, errno))
  }
}

/**
 * Whom it belongs to is not asked, nor who may read it: a secret of a container has the owner and
 * the mode that it has outside of it. Whoever may write it decides who gets in.
 */
function readOpened(
  file: number,
  { path, scopes }: AcceptedTokens,
): Result<TokenEntry[], TokenFileFailure> {
  const stat = fstatSync(file)
  if (!stat.isFile()) return fail(damaged(path, "it is not a regular file"))
  if ((stat.mode & 0o002) !== 0) return fail(exposed(path))
  if (stat.size > mostBytes) return fail(damaged(path, `it is larger than ${mostBytes} bytes`))
  const words = readFileSync(file, "utf8")
    .split(/\s+/)
    .filter((word) => word !== "")
  if (words.length === 0) return fail(damaged(path, "there is no token in it"))
  if (words.length > mostTokens) return fail(damaged(path, `it has more than ${mostTokens} tokens`))
  const tokens = words.map(readToken).filter((token) => token !== null)
  if (tokens.length < words.length) {
    const which = words.findIndex((word) => readToken(word) === null) + 1
    return fail(damaged(path, `word ${which} of ${words.length} is not a complete token`))
  }
  return ok(
    tokens.map(({ id, secret }) => ({
      id,
      name: principal,
      scopes: [...scopes],
      secretHash: secretHash(secret),
      createdAt: stat.mtime.toISOString(),
      expiresAt: null,
      revokedAt: null,
    })),
  )
}

function unreadable(path: string, errno: string): TokenFileFailure {
  const user = process.geteuid?.() ?? "its own"
  const message =
    `The tokens to accept, in ${path}, cannot be read (${errno}), so none of them is accepted. ` +
    `Make the file readable for the service, which runs as user ${user}.`
  return { kind: "unreadable", message }
}

function exposed(path: string): TokenFileFailure {
  const message =
    `The tokens to accept, in ${path}, can be written by everybody, so none of them is accepted. ` +
    `If nobody has changed the file, run: chmod o-w ${path}.`
  return { kind: "exposed", message }
}

function damaged(path: string, why: string): TokenFileFailure {
  const message =
    `The tokens to accept, in ${path}, cannot be used: ${why}. None of them is accepted. ` +
    "Create one to put there with `cc-executor token new`."
  return { kind: "damaged", message }
}
