import type { Failure, Reason } from "../../../../protocol/failure.ts"

/** What a model can do about a refusal, after it has been told what happened. */
export function adviceFor({ reason, details }: Failure): string {
  const retryAfter = details?.["retry_after"]
  const wait = typeof retryAfter === "number" ? `Wait ${Math.ceil(retryAfter)} s` : "Wait"
  return { ...advice, RATE_LIMITED: `${wait}, then call again.` }[reason]
}

const advice: Record<Reason, string> = {
  PARSE_ERROR: "Send the call again as valid JSON.",
  INVALID_REQUEST: "Correct the call, and send it again.",
  METHOD_NOT_FOUND: "List the tools to see what there is.",
  INVALID_PARAMS: "Correct the arguments as the tool's schema says, and call again.",
  INTERNAL: "Call again; if it happens again, tell the user that the service's log says why.",
  SECURITY_DENIED:
    "Do not try to get around it: choose a command that is allowed, or ask the user to allow it.",
  SESSION_LIMIT: "Close a connection that is not needed, or try again later.",
  PROCESS_NOT_FOUND: "Call `list` to see the executions there are.",
  STREAM_TIMEOUT: "Connect again: executions continue meanwhile.",
  RATE_LIMITED: "Wait, then call again.",
  AT_CAPACITY: "Wait until an execution has ended, or cancel one that is not needed.",
  UNAUTHORIZED: "Ask the user for a valid token.",
  FORBIDDEN: "Ask the user for a token that may do this.",
  WRONG_STATE: "Call `wait` to see what state it is in.",
  SPAWN_FAILED: "Check the program's name and the directory, and start it again.",
  EXPIRED: "It cannot be had any more: start the execution again if its output is needed.",
  IDEMPOTENCY_MISMATCH: "Use another idempotency_key, or repeat the first request exactly.",
  DISK_FULL: "Ask the user to free disk space where the service keeps its state.",
  SHUTTING_DOWN: "Wait until the service has been started again, then call again.",
}
