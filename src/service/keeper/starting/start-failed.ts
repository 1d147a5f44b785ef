import type { ExecutionEvent } from "../../../execution/state.ts"
import { fail } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Redaction } from "../ports.ts"
import { redactMessage } from "../redact.ts"

/** Why an execution that was accepted could not be started after all, as its record says it. */
export function startFailed(
  { reason, message: told, details }: Failure,
  redaction: Redaction | null,
): ExecutionEvent {
  const message = redactMessage(told, redaction)
  const errno = details?.["errno"]
  if (typeof errno === "string") return { kind: "start-failed", errno, message }
  // No system call failed: the policy, or the service itself, did not let it come to one.
  return {
    kind: "start-failed",
    errno: reason === "SECURITY_DENIED" ? "EPERM" : "unknown",
    message,
  }
}

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
    "The service is being upgraded and starts nothing for a moment. Try again in a second.",
    { retry_after: 1 },
  ),
)
