import { inOrder, type Scope } from "../../../execution/scope.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { newToken, type Random, secretHash, type Token } from "./token.ts"
import { endedAt, type TokenEntry, type TokenName } from "./token-entry.ts"
import type { TokenFileFailure } from "./token-file.ts"

export type Wanted = { name: TokenName; scopes: readonly Scope[]; ttlMs: number | null }

/** The token itself leaves here and nowhere else. */
export type Made = { token: Token; entry: TokenEntry }

export function makeToken(wanted: Wanted, now: Date, random: Random): Made {
  const token = newToken(random)
  const { name, scopes, ttlMs } = wanted
  const entry: TokenEntry = {
    id: token.id,
    name,
    scopes: inOrder(scopes),
    secretHash: secretHash(token.secret),
    createdAt: now.toISOString(),
    expiresAt: ttlMs === null ? null : new Date(now.getTime() + ttlMs).toISOString(),
    revokedAt: null,
  }
  return { token, entry }
}

const mostTokens = 1_000
const forgottenAfterMs = 90 * 86_400_000

/** Those that ended long ago make room; nobody asks any more what they were. */
export function withToken(
  tokens: readonly TokenEntry[],
  entry: TokenEntry,
  now: Date,
): Result<{ tokens: TokenEntry[] }, TokenFileFailure> {
  const kept = tokens.filter((token) => {
    const ended = endedAt(token, now)
    return ended === null || now.getTime() - ended.getTime() < forgottenAfterMs
  })
  if (kept.length < mostTokens) return ok({ tokens: [...kept, entry] })
  const message =
    `There are ${kept.length} tokens, and the maximum is ${mostTokens}. Those that expired or ` +
    "were revoked count for 90 more days; share tokens instead of creating more."
  return fail({ kind: "full", message })
}

export type Revocation = {
  tokens: readonly TokenEntry[]
  revoked: TokenEntry[]
  /** Revoked before, and so left as they were. */
  alreadyRevoked: TokenEntry[]
  /** What names no token by its id or name. */
  unknown: string[]
}

/** By id, or by name: then every token of that name. Null revokes all. */
export function revokeTokens(
  tokens: readonly TokenEntry[],
  names: readonly string[] | null,
  now: Date,
): Revocation {
  const isMeant = ({ id, name, sessionOf }: TokenEntry) =>
    names === null ||
    [id, name, sessionOf].some((word) => word !== undefined && names.includes(word))
  const isKnown = (word: string) => tokens.some(({ id, name }) => id === word || name === word)
  const revokedAt = now.toISOString()
  const after = tokens.map((token) =>
    isMeant(token) && token.revokedAt === null ? { ...token, revokedAt } : token,
  )
  const revoked = after.filter((token) => !tokens.includes(token))
  return {
    tokens: revoked.length === 0 ? tokens : after,
    revoked,
    alreadyRevoked: tokens.filter((token) => isMeant(token) && token.revokedAt !== null),
    unknown: (names ?? []).filter((word) => !isKnown(word)),
  }
}
