import type { AgentStatus } from "../../../execution/agent.ts"
import type { Redaction } from "../ports.ts"

/**
 * What a session's host tells of it, without what the patterns match: it goes into the journal, as
 * the session's output goes into the transcript.
 */
export function redactStatus(status: AgentStatus, redaction: Redaction | null): AgentStatus {
  if (redaction === null) return status
  const redact = (text: string) => redaction.text(text).text
  const orNull = (text: string | null) => (text === null ? null : redact(text))
  const { activity, questions, last_turn: turn, end } = status
  return {
    ...status,
    activity: { ...activity, awaited: redact(activity.awaited) },
    questions: questions.map((question) => ({
      ...question,
      title: orNull(question.title),
      description: orNull(question.description),
      input: redactedValue(question.input, redact),
      suggestions: question.suggestions.map((one) => redactedValue(one, redact)),
    })),
    last_turn: turn && { ...turn, result: orNull(turn.result) },
    end: end && { ...end, message: redact(end.message) },
  }
}

function redactedValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value)
  if (Array.isArray(value)) return value.map((one) => redactedValue(one, redact))
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([name, one]) => {
    return [redact(name), redactedValue(one, redact)] as const
  })
  return Object.fromEntries(entries)
}
