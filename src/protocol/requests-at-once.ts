import { failure } from "./failure.ts"

/** Of one connection, whatever is spoken on it. */
export const mostRequests = 256

export const tooManyAtOnce = failure(
  "RATE_LIMITED",
  `${mostRequests} requests are under way: wait for an answer first.`,
  { retry_after: 1 },
)
