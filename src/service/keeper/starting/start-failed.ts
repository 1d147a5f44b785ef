import type { ExecutionEvent } from "../../../execution/state.ts"
import type { Failure } from "../../../protocol/failure.ts"
import { redactMessage } from "../audit/redact-message.ts"
import type { Redaction } from "../ports.ts"

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
