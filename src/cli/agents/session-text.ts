import type { Question } from "../../execution/agent.ts"
import { shortId } from "../../execution/id.ts"
import { countText } from "../../lib/count-text.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { InterruptedSession, OpenQuestion } from "../../protocol/agent.ts"
import type { ResultOf } from "../../protocol/methods.ts"
import { nextCommand } from "../connect/next-command.ts"
import type { Context } from "../context.ts"

type Status = ResultOf<"agent.status">
type Asking = Pick<Context, "serviceOptions">

/** How a session stands, for a person. */
export function statusText(context: Asking, status: Status): string {
  const { activity, turns, usage, limit, questions, last_turn, end } = status
  const facts: [string, string | null][] = [
    ["Session", status.session_id],
    ["Agent", [status.agent, status.agent_version].filter(Boolean).join(" ")],
    ["Model", status.model],
    ["Activity", `${activity.state} since ${activity.since}, waits for ${activity.awaited}`],
    ["Until", activity.until ?? null],
    ["What to do", activity.todo ?? null],
    ["Turns", turnsText(turns)],
    ["Cost", `$${usage.cost_usd.toFixed(4)}`],
    ["Tokens", `${usage.tokens.input} in, ${usage.tokens.output} out`],
    ["Limit", limit && `${limit.status}${limit.resets_at === null ? "" : `, ${limit.resets_at}`}`],
    ["Last turn", last_turn && `${last_turn.outcome} at ${last_turn.ended_at}`],
    ["Ends", end && end.message],
    ["Goes on with", status.restart_of ?? null],
    ["Goes on as", status.restarted_as ?? null],
    ["Goes on at", status.restarts_at ?? null],
    ["Interrupted", status.interrupted ?? null],
  ]
  const shown = facts.filter(([, text]) => text !== null && text !== "")
  const width = Math.max(...shown.map(([name]) => name.length)) + 2
  const lines = shown.map(([name, text]) => `${name.padEnd(width)}${onOneLine(text ?? "")}`)
  const { execution_id } = status
  const asked = questions.map((question) => questionText(context, { ...question, execution_id }))
  return [...lines, ...asked].join("\n")
}

function turnsText({ ended, accepted, waiting, responses }: Status["turns"]): string {
  const told = `${ended} of ${accepted} ended, ${countText(responses, "answer")} of the model`
  return waiting === 0 ? told : `${told}, ${waiting} waiting`
}

/** A question with what it is about, and how to answer it. What an agent says begins no line. */
export function questionText(context: Asking, question: OpenQuestion): string {
  const { execution_id, question_id, tool, title, description } = question
  const id = shortId(execution_id)
  const what = tool ?? title ?? question.kind
  const about = description === null || description === "" ? "" : ` (${description})`
  return [
    onOneLine(`${id} ${question_id}: ${what}${about}, asked at ${question.asked_at}`),
    `  ${inputText(question)}`,
    ...deadlineLines(question),
    `  ${nextCommand(context, "agent answer", id, question_id, "allow | deny")}`,
    "",
  ].join("\n")
}

function deadlineLines({ answer_by, answer_then, rule }: Question): string[] {
  if (answer_by === undefined) return []
  const done = answer_then === "allow" ? "Allowed" : "Denied"
  return [onOneLine(`  ${done} at ${answer_by} by rule ${rule ?? "?"} unless answered.`)]
}

/** A session that waits for somebody to go on with it. */
export function interruptedText(session: InterruptedSession): string {
  const { execution_id, why, missing, since, command } = session
  const needed = missing.length === 0 ? [] : [`  missing: ${onOneLine(missing.join(", "))}`]
  const told = `${shortId(execution_id)} was interrupted at ${since}: ${onOneLine(why)}`
  return [told, ...needed, `  ${onOneLine(command)}`, ""].join("\n")
}

function inputText({ input, input_bytes }: Question): string {
  if (input_bytes !== undefined) return `(${input_bytes} bytes: see the session's log)`
  return JSON.stringify(input)
}
