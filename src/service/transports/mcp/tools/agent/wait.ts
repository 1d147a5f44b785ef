import { z } from "zod"
import type { ExecutionRecord } from "../../../../../execution/record.ts"
import { executionId, tool } from "../tool.ts"
import { waitUntil } from "../wait-until.ts"
import { sessionReply } from "./session-text.ts"
import { doingOf, exampleSession, isAtRest, SessionView, sessionView } from "./session-view.ts"

const longestWaitS = 45

export const sessionId = executionId.describe(
  "from `agent_start` or `list`; a unique prefix or the execution's name will do",
)

export const agentWaitTool = tool({
  name: "agent_wait",
  title: "Wait for an agent's session",
  description:
    "Waits until an agent's session has ended its turn, or asks something, or has ended, at most " +
    "45 seconds. Returns the result of the turn, or the open questions with their exact input " +
    "and how to answer each with `agent_answer`. If its state is `working`, call it again, as " +
    "often as needed.",
  input: z.strictObject({
    execution_id: sessionId,
    timeout_s: z.number().min(0).max(longestWaitS).default(longestWaitS),
  }),
  output: SessionView,
  examples: {
    input: { execution_id: exampleSession.execution_id },
    output: exampleSession,
    note: "Session m4xw7ezhy3gqk2vbn4c6fsaelu asks q1. Answer with `agent_answer`, then …",
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
  needs: () => ["read"],
  async answer({ execution_id, timeout_s }, scope, call) {
    const found = await scope.operations.status(scope.caller, execution_id)
    if (!found.ok) return found
    const before = sessionView(found.value)
    if (!before.ok) return before
    const awaited = { isThere: isAtRest, progress: progressText }
    const waited = await waitUntil(scope, call, found.value.id, timeout_s * 1000, awaited)
    if (!waited.ok) return waited
    const view = sessionView(waited.value)
    return view.ok ? sessionReply(view.value) : view
  },
})

export const agentStatusTool = tool({
  name: "agent_status",
  title: "See how an agent's session stands",
  description:
    "Tells at once what an agent's session does, what it asks, what its last turn came to and " +
    "what it has cost, without waiting.",
  input: z.strictObject({ execution_id: sessionId }),
  output: SessionView,
  examples: {
    input: { execution_id: exampleSession.execution_id },
    output: exampleSession,
    note: "Session m4xw7ezhy3gqk2vbn4c6fsaelu asks q1. Answer with `agent_answer`, then …",
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
  needs: () => ["read"],
  async answer({ execution_id }, { operations, caller }) {
    const found = await operations.status(caller, execution_id)
    if (!found.ok) return found
    const view = sessionView(found.value)
    return view.ok ? sessionReply(view.value) : view
  },
})

function progressText(record: ExecutionRecord): string {
  return `Session ${record.id}: ${doingOf(record) ?? "ended"}`
}
