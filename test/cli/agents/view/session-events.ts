import { SessionLog, type SessionNotice } from "../../../../src/client/session-log.ts"

const at = "2026-01-01T12:00:00.000Z"
let last = 0

/** Notices of events, through the log as a host would write it. */
export function notices(...events: Record<string, unknown>[]): SessionNotice[] {
  const lines = events.map((event) => {
    last += 1
    return `${JSON.stringify({ v: 1, n: last, at, ...event })}\n`
  })
  return new SessionLog().add("stdout", lines.join(""))
}

export const turn = (text: string, by = "anna") => ({
  event: "turn",
  turn_id: `turn of ${by}`,
  by,
  text,
})

const streamed = (event: Record<string, unknown>) => ({
  event: "message",
  message: { type: "stream_event", parent_tool_use_id: null, event },
})
export const textStart = streamed({ type: "content_block_start", content_block: { type: "text" } })
export const word = (text: string) =>
  streamed({ type: "content_block_delta", delta: { type: "text_delta", text } })

export const assistant = (content: unknown[], parent: string | null = null) => ({
  event: "message",
  message: { type: "assistant", parent_tool_use_id: parent, message: { content } },
})
export const said = (text: string, parent: string | null = null) =>
  assistant([{ type: "text", text }], parent)
export const used = (id: string, name: string, input: unknown) =>
  assistant([{ type: "tool_use", id, name, input }])
export const result = (id: string, content: unknown, more: Record<string, unknown> = {}) => ({
  event: "message",
  message: {
    type: "user",
    message: { content: [{ type: "tool_result", tool_use_id: id, content }] },
    ...more,
  },
})

export const question = (question_id: string, tool: string, input: unknown) => ({
  event: "question",
  question_id,
  kind: "permission",
  tool,
  input,
  title: tool,
  description: null,
  suggestions: [{ type: "setMode", mode: "acceptEdits" }],
  subagent: null,
  needs_person: false,
  defaults_to_no: false,
  asked_at: at,
  replaces: null,
})
export const answer = (question_id: string, by = "anna", more: Record<string, unknown> = {}) => ({
  event: "answer",
  question_id,
  behavior: "allow",
  by,
  ...more,
})
export const turnEnded = (outcome: string, text: string | null = null) => ({
  event: "turn-ended",
  turn_id: null,
  outcome,
  result: text,
})
