import {
  lostWithoutRepeat,
  mayHaveBeenDone,
  type Problem,
  problem,
  refusedBy,
} from "../../problem.ts"
import type { KnownTarget } from "../known-target.ts"
import type { PendingRequest } from "../pending-requests.ts"
import type { Outcome } from "./http-exchange.ts"

export type RetryDecision =
  | { kind: "done" }
  | { kind: "again"; atLeastMs: number }
  /** The target does not know its session any more, where there was one. */
  | { kind: "unknown-session"; otherwise: Problem }
  | { kind: "fail"; why: Problem }

/** What to do with a request after one try: only temporary failures are retried. */
export function decideRetry(
  pending: PendingRequest,
  outcome: Outcome,
  target: KnownTarget,
  mostSends: number,
): RetryDecision {
  const { name } = target
  const { request } = pending
  switch (outcome.kind) {
    case "answered":
      return { kind: "done" }
    case "unsent":
      return { kind: "again", atLeastMs: 0 }
    case "busy": {
      // A 503 is sent instead of doing it; with a 502 or 504 it may have been done.
      const isSafe = outcome.status === 503 || target.mayBeRepeated(request)
      if (isSafe) return { kind: "again", atLeastMs: outcome.retryAfterMs ?? 0 }
      return fail(mayHaveBeenDone(name, request, outcome.why))
    }
    case "cut": {
      const why = target.whyNotResent(pending, outcome.why, mostSends)
      return why === null ? { kind: "again", atLeastMs: 0 } : fail(why)
    }
    case "broken":
      return target.isOurs && target.mayBeRepeated(request)
        ? { kind: "again", atLeastMs: 0 }
        : fail(lostWithoutRepeat(name, request.method, outcome.why))
    case "refused": {
      const why = refusedBy(name, outcome.why)
      return outcome.status === 404 ? { kind: "unknown-session", otherwise: why } : fail(why)
    }
    case "accepted":
      return fail(refusedBy(name, "it accepted the request but did not answer"))
    case "unreadable":
      return fail(problem("TARGET_UNREADABLE", `The answer of ${name} was lost: ${outcome.why}.`))
  }
}

function fail(why: Problem): RetryDecision {
  return { kind: "fail", why }
}
