import { createHash } from "node:crypto"
import type { HostStart } from "../../protocol/agent-orders.ts"
import type { AgentRun } from "../port.ts"

/** What Claude Code is started with, for a session that is spoken with in JSON. */
export function argumentsOf({ spec }: HostStart, run: AgentRun): string[] {
  return [
    "-p",
    "--input-format=stream-json",
    "--output-format=stream-json",
    "--verbose",
    "--permission-prompt-tool=stdio",
    "--include-partial-messages",
    ...sessionArguments(spec, run),
    ...(spec.model === null ? [] : ["--model", spec.model]),
    ...(spec.permissionMode === null ? [] : ["--permission-mode", spec.permissionMode]),
  ]
}

function sessionArguments(spec: HostStart["spec"], run: AgentRun): string[] {
  const { sessionId, resumedFrom, fork } = spec
  if (run.kind === "resume") return ["--resume", sessionId]
  if (resumedFrom === null) return ["--session-id", sessionId]
  if (!fork) return ["--resume", resumedFrom]
  return ["--resume", resumedFrom, "--fork-session", "--session-id", sessionId]
}

/** Variables of Claude Code's that make it a session's agent; some look internal (ADR 36). */
export function variablesOf(start: HostStart, run: AgentRun): Record<string, string> {
  const { spec, approval } = start
  return {
    CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1",
    // Without its hooks it would not tell of what it does without asking: see `mustAsk`.
    ...(approval.some(({ decide }) => decide === "deny") ? { CLAUDE_CODE_SIMPLE: "0" } : {}),
    // Waits inside the turn until a usage limit is over.
    ...(spec.onLimit === "wait" ? { CLAUDE_CODE_RETRY_WATCHDOG: "1" } : {}),
    // Goes on with a turn that was cut off, and shows its calls as cut off: none runs twice.
    ...(run.kind === "resume"
      ? { CLAUDE_CODE_RESUME_INTERRUPTED_TURN: "1", CLAUDE_CODE_RESUME_SHOWS_CUT_OFF_CALLS: "1" }
      : {}),
  }
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Claude Code knows turns by UUIDs, clients may call them what they like. */
export function uuidOfTurn(sessionId: string, turnId: string): string {
  if (uuidForm.test(turnId)) return turnId
  const hash = createHash("sha256").update(`${sessionId}\n${turnId}`).digest("hex")
  const variant = ((Number.parseInt(hash.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`, // version 8: made as its maker likes
    `${variant}${hash.slice(18, 20)}`,
    hash.slice(20, 32),
  ].join("-")
}
