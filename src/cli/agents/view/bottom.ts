import { readChoices } from "../../../client/messages/choices.ts"
import { toolEssence } from "../../../client/messages/tool-input.ts"
import type { Question } from "../../../execution/agent.ts"
import type { TerminalSize } from "../../../execution/spec.ts"
import type { Colours } from "../../terminal/colours.ts"
import { cut } from "../../terminal/table.ts"
import type { CursorPlace, Text } from "../../terminal/terminal-text.ts"
import { nextChoice } from "./answer-keys.ts"
import { type Line, rowsOf, visible, wrapped } from "./line.ts"
import { promptRows } from "./prompt-line.ts"
import { rememberedText } from "./question-lines.ts"
import type { ViewState } from "./view-state.ts"

/** What is drawn anew at the bottom of the terminal. */
export type Bottom = { rows: Text[]; cursor: CursorPlace }

type Shown = {
  state: ViewState
  /** What the agent has said of its line so far. */
  unfinished: string
  /** What comes after that line. */
  waiting: readonly Line[]
  questions: readonly Question[]
  status: string
}

const mostPromptRows = 8
const mostWaiting = 3

export function bottomOf(shown: Shown, { cols, rows }: TerminalSize, colours: Colours): Bottom {
  const { state, questions } = shown
  const [question] = questions
  const prefix = state.editing === null ? "> " : "edit> "
  const prompt = promptRows(state.prompt, prefix, cols, Math.min(mostPromptRows, promptRoom(rows)))
  const room = Math.max(1, rows - 1 - prompt.rows.length)
  const spoken = shown.unfinished === "" ? [] : wrapped(visible(shown.unfinished), cols)
  const waiting = shown.waiting
    .slice(-mostWaiting)
    .flatMap((one) => rowsOf({ ...one, isCut: true, colour: "dim" }, cols, colours))
  const asked = question === undefined ? [] : questionRows(shown, question, cols, colours)
  const message = state.message === "" ? [] : [colours.yellow(cut(visible(state.message), cols))]
  const status = colours.dim(cut(visible(`── ${shown.status} `), cols))
  // Where there is too little room, what is most important stands last.
  const above = [...spoken, ...waiting, ...asked, ...message, status].slice(-room)
  return {
    rows: [...above, ...prompt.rows],
    cursor: { row: above.length + prompt.row, column: prompt.column },
  }
}

function promptRoom(rows: number): number {
  return Math.max(1, Math.floor(rows / 3))
}

function questionRows(
  { state, questions }: Shown,
  question: Question,
  cols: number,
  colours: Colours,
): Text[] {
  const more = questions.length > 1 ? ` (${questions.length - 1} more after it)` : ""
  const about = `${question.question_id} ${aboutText(question, state)}${more}`
  return [
    colours.bold(cut(visible(about), cols)),
    colours.yellow(cut(keysText(state, question), cols)),
  ]
}

function aboutText(question: Question, { chosen }: ViewState): string {
  const choice = nextChoice(question, chosen)
  if (choice !== undefined) {
    const labels = choice.options.map(({ label }, at) => `${at + 1} ${label}`)
    return `${choice.question} ${labels.join("  ")}`
  }
  const { tool, title, input } = question
  return `Allow ${tool ?? title ?? "this"}? ${toolEssence(tool ?? "", input)}`
}

function keysText({ editing, prompt }: ViewState, question: Question): string {
  if (editing !== null) return "Enter allows it like this, Alt-Enter begins a line, Esc goes back"
  if (prompt.text !== "") return "Send or clear (Ctrl-U) your line, then answer"
  const choices = readChoices(question.input)
  if (choices !== null) return "[1-9] choose  [e] say something else  [n] refuse to answer"
  const remembered = rememberedText(question)
  const always = remembered === null ? "" : `  [a] always: ${visible(remembered)}`
  return `[y] allow  [n] deny  [e] edit${always}`
}
