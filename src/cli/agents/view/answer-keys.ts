import { z } from "zod"
import { chosenInput, readChoices } from "../../../client/messages/choices.ts"
import { inputFields, textField } from "../../../client/messages/tool-input.ts"
import type { Question } from "../../../execution/agent.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import { withText } from "./prompt-line.ts"
import { rememberedText } from "./question-lines.ts"
import type { Typed } from "./typed-input.ts"
import {
  type Answer,
  type Chosen,
  only,
  type Pressed,
  type ViewState,
  withoutEdit,
} from "./view-state.ts"

/** What a key answers; null where it is no answer, and so the beginning of a line. */
export function answerKey(
  state: ViewState,
  key: Typed,
  question: Question,
  isFresh: boolean,
): Pressed | null {
  if (typeof key !== "object" || !("typed" in key)) return null
  const { question_id } = question
  const letter = key.typed.toLowerCase()
  const isChoice = readChoices(question.input) !== null
  const isAnswer = isChoice ? /^[ne1-9]$/ : /^[yena]$/
  if (!isAnswer.test(letter)) return null
  if (isFresh) return only(state)
  if (letter === "e") {
    return only({
      ...state,
      editing: question,
      prompt: withText(state.prompt, textToEdit(question)),
    })
  }
  if (letter === "n") return answered(state, { question_id, behavior: "deny" })
  if (isChoice) return pressNumber(state, question, Number(letter))
  if (letter === "y") return answered(state, { question_id, behavior: "allow" })
  if (rememberedText(question) === null) {
    return only({ ...state, message: "The agent suggests no rule to remember: use y." })
  }
  return answered(state, { question_id, behavior: "allow", remember: true })
}

function answered(state: ViewState, answer: Answer): Pressed {
  return { state, action: { kind: "answer", answer } }
}

/** A command as it is, an answer to a choice in one's own words, anything else as JSON. */
function textToEdit({ tool, input }: Question): string {
  if (readChoices(input) !== null) return ""
  const [command] = tool === "Bash" ? textField(inputFields(input), "command") : []
  return command ?? JSON.stringify(input, null, 2) ?? ""
}

const Input = z.record(z.string(), z.unknown())

/** Enter, where the input of a question was edited. */
export function finishEdit(state: ViewState, question: Question): Pressed {
  const { question_id, tool, input } = question
  const { text } = state.prompt
  const fields = inputFields(input)
  const done = withoutEdit(state)
  if (readChoices(input) !== null) return text === "" ? only(done) : choose(done, question, text)
  const allowed = { question_id, behavior: "allow" } as const
  if (tool === "Bash" && textField(fields, "command").length > 0) {
    return answered(done, { ...allowed, updated_input: { ...fields, command: text } })
  }
  const read = Input.safeParse(tryParseJson(text))
  if (read.success) return answered(done, { ...allowed, updated_input: read.data })
  return only({ ...state, message: "This is not a JSON object. Esc drops the change." })
}

/** The part of a question that is to be answered next. */
export function nextChoice(question: Question, chosen: Chosen) {
  const answers = answersTo(question, chosen)
  return readChoices(question.input)?.find((choice) => answers[choice.question] === undefined)
}

function answersTo({ question_id }: Question, { questionId, answers }: Chosen) {
  return questionId === question_id ? answers : {}
}

function pressNumber(state: ViewState, question: Question, number: number): Pressed {
  const label = nextChoice(question, state.chosen)?.options[number - 1]?.label
  return label === undefined ? only(state) : choose(state, question, label)
}

/** Answers the next part, and with the last one the question. */
function choose(state: ViewState, question: Question, answer: string): Pressed {
  const { question_id: questionId, input } = question
  const choice = nextChoice(question, state.chosen)
  if (choice === undefined) return only(state)
  const answers = { ...answersTo(question, state.chosen), [choice.question]: answer }
  const chosen = { questionId, answers }
  if (nextChoice(question, chosen) !== undefined) return only({ ...state, chosen })
  const updated_input = chosenInput(input, answers)
  return answered(
    { ...state, chosen },
    { question_id: questionId, behavior: "allow", updated_input },
  )
}
