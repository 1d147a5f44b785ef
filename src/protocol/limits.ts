import { type Failure, failure } from "./failure.ts"

/** Of one connection, whatever is spoken on it. */
export const mostRequests = 256

export const tooManyAtOnce = failure(
  "RATE_LIMITED",
  `${mostRequests} requests are under way: wait for an answer first.`,
  { retry_after: 1 },
)

/** Of all executions together: an answer comes only when the child has read, which may be never. */
export const mostWaitingInputBytes = 16 * 1024 * 1024

export const tooMuchInputWaits: Failure = failure(
  "RATE_LIMITED",
  "Too much input waits for children that do not read: try again later.",
  { retry_after: 1 },
)
