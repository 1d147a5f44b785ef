import { type Failure, failure } from "./failure.ts"

/** Of all executions together: an answer comes only when the child has read, which may be never. */
export const mostWaitingInputBytes = 16 * 1024 * 1024

export const tooMuchInputWaits: Failure = failure(
  "RATE_LIMITED",
  "Too much input is waiting for commands that do not read it: try again later.",
  { retry_after: 1 },
)
