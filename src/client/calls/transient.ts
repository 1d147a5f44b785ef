import { z } from "zod"
import type { Failure, Reason } from "../../protocol/failure.ts"

/** Refusals that say "not now" rather than "no". */
const transientReasons: ReadonlySet<Reason> = new Set([
  "RATE_LIMITED",
  "SHUTTING_DOWN",
  "SESSION_LIMIT",
  "STREAM_TIMEOUT",
  "AT_CAPACITY",
])

const RetryAfter = z.object({ retry_after: z.number().min(0).max(3_600).describe("seconds") })
const unsaidDelayMs = 1_000

export function isTransient(refused: Failure): boolean {
  return transientReasons.has(refused.reason)
}

/**
 * Refusals made before the server looks at what was asked. When a repeated request meets one, its
 * first sending may have been done all the same: only a later answer tells.
 */
export function saysNothingOfTheRequest(refused: Failure): boolean {
  return refused.reason === "RATE_LIMITED" || refused.reason === "SHUTTING_DOWN"
}

export function retryDelayMs(refused: Failure): number {
  const said = RetryAfter.safeParse(refused.details)
  return said.success ? said.data.retry_after * 1000 : unsaidDelayMs
}
