import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import { changeTokens, type LockPort } from "./change-tokens.ts"
import { newToken, type Random, secretHash, tokenText } from "./token.ts"
import { type TokenEntry, tokenState } from "./token-entry.ts"

/** A working day: then whoever sits in front of the page shows the token again. */
const lifeMs = 12 * 3_600_000
/** Of one token: browsers, and windows of them. Past it the oldest ends. */
const mostOfOneToken = 16

export type PageSession = { secret: string; expiresAt: string }

export type PageSessionPorts = {
  stateDirectory: string
  lock: LockPort
  now: () => Date
  random: Random
  /** The token that somebody has come with. */
  entryOf: (id: string) => TokenEntry | null
}

/**
 * A web page keeps a secret of its own in the place of the token: it ends soon, it can be given
 * back, and it is gone with the token. It stands among the tokens, so that it outlives the gateway.
 */
export async function openPageSession(
  tokenId: string,
  ports: PageSessionPorts,
): Promise<Result<PageSession, Failure>> {
  const token = ports.entryOf(tokenId)
  if (token === null) return fail(noToken)
  if (token.sessionOf !== undefined) return fail(noSessionOfSession)
  const now = ports.now()
  const made = newToken(ports.random)
  const entry = sessionEntry(token, made, now)
  const changed = await changeTokens(ports.stateDirectory, ports.lock, (tokens) =>
    ok({ tokens: withSession(tokens, entry, now) }),
  )
  if (!changed.ok) return fail(failure("INTERNAL", changed.failure.message))
  return ok({ secret: tokenText(made), expiresAt: entry.expiresAt ?? now.toISOString() })
}

/** Whether it was one. Nothing is kept of it: it was the page's own. */
export async function endPageSession(
  id: string,
  ports: PageSessionPorts,
): Promise<Result<boolean, Failure>> {
  const entry = ports.entryOf(id)
  if (entry?.sessionOf === undefined) return ok(false)
  const changed = await changeTokens(ports.stateDirectory, ports.lock, (tokens) =>
    ok({ tokens: tokens.filter((token) => token.id !== id) }),
  )
  return changed.ok ? ok(true) : fail(failure("INTERNAL", changed.failure.message))
}

function sessionEntry(
  token: TokenEntry,
  made: { id: string; secret: string },
  now: Date,
): TokenEntry & { sessionOf: string } {
  const endMs = now.getTime() + lifeMs
  const tokenEndMs = token.expiresAt === null ? Infinity : Date.parse(token.expiresAt)
  return {
    id: made.id,
    name: token.name,
    scopes: [...token.scopes],
    secretHash: secretHash(made.secret),
    createdAt: now.toISOString(),
    expiresAt: new Date(Math.min(endMs, tokenEndMs)).toISOString(),
    revokedAt: null,
    sessionOf: token.id,
  }
}

/** Those that are over make room at once; of one token, the oldest does. */
function withSession(
  tokens: readonly TokenEntry[],
  session: TokenEntry & { sessionOf: string },
  now: Date,
): TokenEntry[] {
  const kept = tokens.filter(
    (token) => token.sessionOf === undefined || tokenState(token, now) === "good",
  )
  const siblings = kept.filter((token) => token.sessionOf === session.sessionOf)
  const ended = new Set(siblings.slice(0, Math.max(0, siblings.length + 1 - mostOfOneToken)))
  return [...kept.filter((token) => !ended.has(token)), session]
}

const noToken = failure(
  "INVALID_REQUEST",
  "This is for who has come with a token: send `Authorization: Bearer TOKEN`.",
)
const noSessionOfSession = failure(
  "FORBIDDEN",
  "A page's session cannot open another one: use the token itself.",
)
