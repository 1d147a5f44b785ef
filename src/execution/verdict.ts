import { z } from "zod"
import {
  Evidence,
  evidenceOf,
  type Findings,
  nothingFound,
  whyNotExecuted,
} from "./evidence/evidence.ts"
import { StreamName, type TranscriptHashes } from "./record.ts"

/** What was found when a transcript was checked against its own chain and a claim. */
export type Verification = {
  chain:
    | { kind: "intact" }
    | { kind: "intact-from"; sequence: number }
    | { kind: "broken-at"; sequence: number; why: string }
  /** Where the claimed text begins; null when it was not found, or none was claimed. */
  found: { stream: StreamName; sequence: number; time: Date } | null
  /** Where a text stands in an agent's session, if that was asked. */
  evidence?: Findings | undefined
}

export const Claim = z.object({
  contains: z.string().min(1).max(1_048_576).optional().describe("text claimed as output"),
  hash: z.string().optional().describe("a claimed SHA-256: chain, stdout or stderr"),
  executed: z
    .string()
    .min(1)
    .max(1_048_576)
    .optional()
    .describe("text claimed as output of a tool that ran in an agent's session"),
})
export type Claim = z.infer<typeof Claim>

export const Verdict = z.object({
  verified: z.boolean(),
  where: z
    .object({ type: StreamName, sequence: z.int(), time: z.iso.datetime() })
    .optional()
    .describe("where the claimed text begins"),
  hash: z.enum(["chain", "stdout", "stderr"]).optional().describe("which hash was confirmed"),
  executed: Evidence.optional().describe("where the text of `executed` stands"),
  chain: z.string().describe("`intact`, `intact from N` or `broken at N`"),
  reason: z.string().optional().describe("why it is not verified"),
})
export type Verdict = z.infer<typeof Verdict>

/**
 * Confirms or refutes a claim from what was found: the same words online and offline. `hasOwnUser`
 * says that the execution ran as another user than the service.
 */
export function checkClaim(
  { chain, found, evidence }: Verification,
  claim: Claim,
  hashes: TranscriptHashes | null,
  hasOwnUser = false,
): Verdict {
  const chainResult = chainText(chain)
  // What a broken record says is worth nothing.
  const isAsked = claim.executed !== undefined && chain.kind !== "broken-at"
  const executed = isAsked ? evidenceOf(evidence ?? nothingFound, hasOwnUser) : null
  const shown = executed === null ? {} : { executed }
  const refuted = (reason: string) => ({ verified: false, chain: chainResult, reason, ...shown })
  if (chain.kind === "broken-at") return refuted(chain.why)
  if (claim.contains !== undefined && found === null) {
    return refuted(
      chain.kind === "intact-from"
        ? "the text is not in the output that is kept; older output was dropped"
        : "the text is not in the output",
    )
  }
  const hash = claim.hash === undefined ? undefined : matchingHash(claim.hash, hashes)
  if (hash === null) {
    return refuted(noSuchHash(hashes))
  }
  const notExecuted = executed === null ? null : whyNotExecuted(executed)
  if (notExecuted !== null) {
    const older = "; older output was dropped"
    return refuted(`${notExecuted}${chain.kind === "intact-from" ? older : ""}`)
  }
  return {
    verified: true,
    chain: chainResult,
    ...(hash === undefined ? {} : { hash }),
    ...(found === null ? {} : { where: whereOf(found) }),
    ...shown,
  }
}

function noSuchHash(hashes: TranscriptHashes | null): string {
  if (hashes === null) {
    return "there is no final hash to compare with: it has not ended, or its hashes were lost"
  }
  if (hashes.stdout === null || hashes.stderr === null) {
    return "the hash is not that of the chain; those of the streams are unknown"
  }
  return "the hash matches neither the chain nor a stream"
}

function whereOf(found: NonNullable<Verification["found"]>): NonNullable<Verdict["where"]> {
  return { type: found.stream, sequence: found.sequence, time: found.time.toISOString() }
}

function chainText(chain: Verification["chain"]): string {
  switch (chain.kind) {
    case "intact":
      return "intact"
    case "intact-from":
      return `intact from ${chain.sequence}`
    case "broken-at":
      return `broken at ${chain.sequence}`
  }
}

function matchingHash(claimed: string, hashes: TranscriptHashes | null): Verdict["hash"] | null {
  const wanted = claimed.toLowerCase().replace(/^sha256:/, "")
  const names = ["chain", "stdout", "stderr"] as const
  return names.find((name) => hashes?.[name] === wanted) ?? null
}
