import type { AnswerToAgent } from "../port.ts"
import type { Fields } from "./fields.ts"

/** An answer to whether a tool may be used, as Claude Code is told it. */
export function toolAnswer(answer: AnswerToAgent): Fields {
  if (answer.behavior === "deny") return { behavior: "deny", message: answer.message }
  const { input, suggestions } = answer
  const remembered = suggestions.length === 0 ? {} : { updatedPermissions: suggestions }
  return { behavior: "allow", updatedInput: input, ...remembered }
}

/** An answer to a form that a server, or Claude Code itself, wants to have filled in. */
export function elicitationAnswer(answer: AnswerToAgent): Fields {
  if (answer.behavior === "deny") return { action: "decline" }
  return { action: "accept", content: answer.input }
}
