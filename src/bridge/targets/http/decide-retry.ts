import { wordOf } from "../../messages/message.ts"
import {
  lostWithoutRepeat,
  mayHaveBeenDone,
  type Problem,
  problem,
  refusedBy,
} from "../../problem.ts"
import type { KnownTarget } from "../known-target.ts"
import type { PendingRequest } from "../pending-requests.ts"
import { whyNotResent } from "../why-not-resent.ts"
import type { Outcome } from "./http-exchange.ts"

export type RetryDecision =
  | { kind: "done" }
  | { kind: "again"; atLeastMs: number }
  /** The target does not know its session any more, where there was one. */
  | { kind: "unknown-session"; otherwise: Problem }
  | { kind: "fail"; why: Problem }

/** What becomes of a request after one try: only what passes by itself is tried again. */
export function decideRetry(
  pending: PendingRequest,
  outcome: Outcome,
  target: KnownTarget,
  mostSends: number,
): RetryDecision {
  const { name } = target
  const { method, params } = pending.request
  switch (outcome.kind) {
    case "answered":
      return { kind: "done" }
    case "unsent":
      return { kind: "again", atLeastMs: 0 }
    case "busy": {
      // 503 is said instead of doing it; behind the other two it may have been done.
      const mayBeDone = outcome.status !== 503 && !target.mayBeRepeated(pending.request)
      if (!mayBeDone) return { kind: "again", atLeastMs: outcome.retryAfterMs ?? 0 }
      return fail(mayHaveBeenDone(name, wordOf(params["name"]), outcome.why))
    }
    case "cut": {
      const why = whyNotResent(pending, outcome, target, mostSends)
      return why === null ? { kind: "again", atLeastMs: 0 } : fail(why)
    }
    case "broken":
      if (target.isOurs && target.mayBeRepeated(pending.request)) {
        return { kind: "again", atLeastMs: 0 }
      }
      return fail(lostWithoutRepeat(name, method, outcome.why))
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

/** Whether an outcome speaks against the target, and not only against the request. */
export function isFailureOfTarget(
  outcome: Outcome,
): outcome is Extract<Outcome, { kind: "unsent" | "busy" | "cut" | "broken" }> {
  return ["unsent", "busy", "cut", "broken"].includes(outcome.kind)
}

function fail(why: Problem): RetryDecision {
  return { kind: "fail", why }
}
