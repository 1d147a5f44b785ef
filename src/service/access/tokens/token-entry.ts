import { z } from "zod"
import { Scope } from "../../../execution/scope.ts"

/** Of those who come without a token: the user of this machine, and holders of certificates. */
const reserved = /^(?:local$|cert)/i

/** The principal: what its bearer does is done in this name. Several tokens may carry one. */
export const TokenName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    "use up to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit",
  )
  .refine((name) => !reserved.test(name), "`local` and names beginning with `cert` are reserved")
export type TokenName = z.infer<typeof TokenName>

const TokenId = z.string().regex(/^[a-z2-7]{10}$/)

export const TokenEntry = z.object({
  id: TokenId,
  name: TokenName,
  scopes: z.array(Scope).min(1),
  secretHash: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
  sessionOf: TokenId.optional().describe("a web page's secret, in the place of this token"),
})
export type TokenEntry = z.infer<typeof TokenEntry>

export type TokenState = "good" | "expired" | "revoked"

export function tokenState(entry: TokenEntry, now: Date): TokenState {
  if (entry.revokedAt !== null) return "revoked"
  const isOver = entry.expiresAt !== null && now.getTime() >= Date.parse(entry.expiresAt)
  return isOver ? "expired" : "good"
}

/** When it stopped to be good; null for one that still is. */
export function endedAt(entry: TokenEntry, now: Date): Date | null {
  switch (tokenState(entry, now)) {
    case "good":
      return null
    case "revoked":
      return new Date(entry.revokedAt ?? now)
    case "expired":
      return new Date(entry.expiresAt ?? now)
  }
}
