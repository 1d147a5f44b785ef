import type { Result } from "../../../../../lib/result.ts"
import { reply, type ToolReply } from "../tool.ts"
import type { SessionView } from "./session-view.ts"

/** The answer of a tool that tells how a session stands: the same in words and in fields. */
export function sessionReply(view: SessionView): Result<ToolReply<SessionView>, never> {
  return reply(`${stateText(view)}${nextStep(view)}`, view, bodyOf(view))
}

function stateText({ execution_id, state, questions, result, doing, ending }: SessionView): string {
  switch (state) {
    case "asking":
      return `Session ${execution_id} asks ${questions.map(idOf).join(", ")}.`
    case "idle":
      return result === null
        ? `Session ${execution_id} has nothing to do.`
        : `Session ${execution_id}: its turn ended, ${result.outcome}.`
    case "ended":
      return `${ending}`
    case "working":
      return `Session ${execution_id} is still working${doing === null ? "" : `: ${doing}`}.`
  }
}

function idOf({ question_id }: SessionView["questions"][number]): string {
  return question_id
}

function nextStep({ state, result, execution_id }: SessionView): string {
  const cut =
    result?.is_cut === true
      ? ` Its result is cut: \`output\` has all of it, pattern "event":"turn-ended".`
      : ""
  switch (state) {
    case "asking":
      return " Answer with `agent_answer`, then call `agent_wait` again."
    case "idle":
      return result === null
        ? " Give it a turn with `agent_send`."
        : `${cut} Before you rely on it, check it: \`verify\` with \`executed\`. Go on with ` +
            "`agent_send`, or end the session with `cancel`."
    case "ended":
      return `${cut} To go on with it: \`agent_start\` with resume ${execution_id}.`
    case "working":
      return " Call `agent_wait` again."
  }
}

function bodyOf({ questions, result }: SessionView): string {
  if (questions.length === 0) return result?.text ?? ""
  const texts = questions.map(({ question_id, tool, kind, input, how_to_answer }) =>
    [`${question_id}: ${tool ?? kind} ${JSON.stringify(input)}`, how_to_answer].join("\n"),
  )
  return texts.join("\n\n")
}
