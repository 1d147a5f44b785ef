import type { Question } from "../../../../../execution/agent.ts"

/** What to call `agent_answer` with, for a model that reads one question. */
export function howToAnswer(question: Question): string {
  const { question_id, kind, input_bytes, needs_person } = question
  const person = needs_person ? " Only a person may decide this: ask the user first." : ""
  const missing =
    input_bytes === undefined
      ? ""
      : ` Its input has ${input_bytes} bytes: read it with \`output\`, pattern ` +
        `"question_id":"${question_id}".`
  return `Call agent_answer with question_id ${question_id} and ${answers[kind]}${missing}${person}`
}

const answers: Record<Question["kind"], string> = {
  permission:
    "behavior `allow`, to let it use the tool with exactly this input (or with another one: " +
    "updated_input, all of it); or `deny`, with a message that tells it what to do instead.",
  choice:
    "behavior `allow` and updated_input: the same input with one more field, answers: " +
    '{"QUESTION": "LABEL"}, for every question of the input, by its full text, the label of an ' +
    "option or words of your own; or `deny`.",
  elicitation: "behavior `allow` and updated_input: the fields that its input asks for; or `deny`.",
}
