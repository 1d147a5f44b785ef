import { fail } from "../../../lib/result.ts"
import { failure } from "../../../protocol/failure.ts"

/** Why the service as a whole starts nothing at the moment. */

export const diskFull = fail(
  failure("DISK_FULL", "The service's disk is full: free some space, then try again."),
)

export const shuttingDown = fail(
  failure("SHUTTING_DOWN", "The service is shutting down: nothing new is started."),
)

export const beingUpgraded = fail(
  failure(
    "SHUTTING_DOWN",
    "The service is being upgraded: nothing is started for a moment. Try again in a second.",
    { retry_after: 1 },
  ),
)
