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
  METHOD_NOT_FOUND: "List the tools to see what is available.",
  INVALID_PARAMS: "Correct the arguments according to the tool's schema, and call again.",
  INTERNAL: "Call again; if it fails again, tell the user to look at the service's log.",
  SECURITY_DENIED:
    "Do not try to get around it: choose a command that is allowed, or ask the user to allow it.",
  SESSION_LIMIT: "Close a connection that is not needed, or try again later.",
  PROCESS_NOT_FOUND: "Call `list` to see the existing executions.",
  STREAM_TIMEOUT: "Reconnect: executions continue in the meantime.",
  RATE_LIMITED: "Wait, then call again.",
  AT_CAPACITY: "Wait until an execution has ended, or cancel one that is not needed.",
  UNAUTHORIZED: "Ask the user for a valid token.",
  FORBIDDEN: "Ask the user for a token that allows this.",
  WRONG_STATE: "Call `wait` to see what state it is in.",
  SPAWN_FAILED: "Check the program's name and the directory, and start it again.",
  EXPIRED: "It is no longer available: run the command again if you need its output.",
  IDEMPOTENCY_MISMATCH: "Use another idempotency_key, or repeat the first request exactly.",
  DISK_FULL: "Ask the user to free disk space where the service keeps its state.",
  SHUTTING_DOWN: "Wait until the service has restarted, then call again.",
}
