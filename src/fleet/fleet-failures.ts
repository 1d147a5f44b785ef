import { type Failure, failure } from "../protocol/failure.ts"

const retryAfterS = 2

/** Nothing can be placed now; what runs goes on. */
export function fleetUnavailable(why: string): Failure {
  const message =
    `The fleet cannot place anything now: ${why}. What runs goes on; ` +
    "try again after `retry_after` seconds."
  return failure("FLEET_UNAVAILABLE", message, { retry_after: retryAfterS })
}

export function unreachableNode(node: string): Failure {
  const message =
    `Node ${node} cannot be reached: only what it has told before is known. ` +
    "Try again, or see `cc-executor node ls`."
  return failure("FLEET_UNAVAILABLE", message, { node, retry_after: retryAfterS })
}
