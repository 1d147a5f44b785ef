import { TokenBucket } from "../lib/token-bucket.ts"
import { type Failure, failure } from "./failure.ts"

// Of one connection, whatever is spoken on it.

/** Requests without an answer. */
const mostRequests = 256
/** What a client may leave unread in memory: the largest answer and some more. */
export const mostUnsentBytes = 16 * 1024 * 1024
/** With this code a connection is closed that does not keep to its limits. */
export const policyViolation = 1008
export const tryAgainLater = 1013

/** Why a message is not taken; null when it is. */
export function refusalOf(decision: RateDecision, requestsUnderWay: number): Failure | null {
  if (decision.kind !== "pass") return decision.refusal
  return requestsUnderWay >= mostRequests ? tooManyAtOnce : null
}

const tooManyAtOnce = failure(
  "RATE_LIMITED",
  `${mostRequests} requests are in progress: wait for an answer first.`,
  { retry_after: 1 },
)

export function tooLarge(mostBytes: number): Failure {
  const message = `The message is larger than ${mostBytes} bytes: the connection is closed.`
  return failure("INVALID_REQUEST", message)
}

export type RateDecision =
  | { kind: "pass" }
  | { kind: "too-fast"; refusal: Failure }
  /** It was told so often that it does not listen: to answer on would only feed it. */
  | { kind: "flood"; refusal: Failure }

/** How fast one client may send, and how often it is told that this was too fast. */
export class MessageRateLimiter {
  readonly #messages: TokenBucket
  readonly #refusals: TokenBucket

  constructor(perSecond: number, nowMs: number) {
    this.#messages = new TokenBucket({ perSecond, burst: perSecond * 2 }, nowMs)
    this.#refusals = new TokenBucket({ perSecond, burst: perSecond * 10 }, nowMs)
  }

  next(nowMs: number): RateDecision {
    const retry_after = this.#messages.take(nowMs)
    if (retry_after === 0) return { kind: "pass" }
    const isFlood = this.#refusals.take(nowMs) > 0
    return isFlood
      ? { kind: "flood", refusal: failure("RATE_LIMITED", closing, { retry_after: 1 }) }
      : { kind: "too-fast", refusal: failure("RATE_LIMITED", warning, { retry_after }) }
  }
}

const warning = "You send messages too fast: wait for `retry_after` seconds."
const closing = "You keep sending too fast: closing the session. Executions continue."

/** Of all executions together: an answer comes only when the child has read, which may be never. */
export const waitingInputLimits = {
  limitBytes: 16 * 1024 * 1024,
  limitBytesEach: 8 * 1024 * 1024, // of one principal: it leaves as much to others
}

export const tooMuchInputWaits: Failure = failure(
  "RATE_LIMITED",
  "Too much input is waiting for commands that do not read it: try again later.",
  { retry_after: 1 },
)
