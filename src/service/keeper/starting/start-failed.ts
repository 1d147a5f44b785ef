import type { ExecutionId } from "../../../execution/id.ts"
import type { ExecutionEvent } from "../../../execution/state.ts"
import { shortageOf } from "../../../lib/exhaustion.ts"
import { fail } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Redaction, SpawnFailure, StartFailure } from "../ports.ts"
import { redactMessage } from "../redact.ts"

/** What a start is refused with that the system did not let happen: no fault of the request's. */
export function couldNotStart({ errno, message }: SpawnFailure): Failure {
  const shortage = shortageOf(errno)
  if (shortage !== null) {
    const told = `Could not start: ${shortage}, or try again later (${errno}).`
    return failure("AT_CAPACITY", told, { errno, retry_after: 1 })
  }
  return failure("SPAWN_FAILED", `Could not start: ${message}.`, { errno })
}

/** Why there is no execution; or, where its program had begun, why there is none any more. */
export function whyNotStarted(id: ExecutionId, failed: StartFailure): Failure {
  return failed.hasRun ? endedAtOnce(id, failed) : couldNotStart(failed)
}

/** What has begun must not be told as refused: nobody could look after it, so it was ended. */
function endedAtOnce(id: ExecutionId, { errno, message }: SpawnFailure): Failure {
  const shortage = shortageOf(errno)
  const why = "It was started, but could not be looked after, and was ended at once"
  const reason = shortage === null ? "SPAWN_FAILED" : "AT_CAPACITY"
  return failure(reason, `${why}: ${shortage ?? message}.`, { errno, execution_id: id })
}

/** Whether this is told of something that had begun, and so stays on record. */
export function hasRun({ details }: Failure): boolean {
  return details?.["execution_id"] !== undefined
}

/** Why an execution that was accepted could not be started after all, as its record says it. */
export function startFailed(
  { reason, message: told, details }: Failure,
  redaction: Redaction | null,
): ExecutionEvent {
  const message = redactMessage(told, redaction)
  if (hasRun({ reason, message, details })) return { kind: "lost", reason: message }
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
