import type { Question } from "../../../execution/agent.ts"
import type { ParamsOf } from "../../../protocol/methods.ts"
import { emptyPrompt, type PromptLine, withText } from "./prompt-line.ts"

/** What a person does at the bottom of the screen. */
export type ViewState = {
  readonly prompt: PromptLine
  /** The question whose input is being edited in the prompt. */
  readonly editing: Question | null
  readonly chosen: Chosen
  /** Ctrl-C was pressed last: once more leaves. */
  readonly isLeaving: boolean
  readonly message: string
}

/** The answers so far to a question that has several parts, by part. */
export type Chosen = {
  readonly questionId: string
  readonly answers: Readonly<Record<string, string>>
}

export const initialState: ViewState = {
  prompt: emptyPrompt,
  editing: null,
  chosen: { questionId: "", answers: {} },
  isLeaving: false,
  message: "",
}

export type Answer = Omit<ParamsOf<"agent.answer">, "execution_id">

export type ViewAction =
  | { kind: "none" | "interrupt" | "leave" | "redraw" }
  | { kind: "send"; text: string }
  | { kind: "answer"; answer: Answer }

/** What a key makes of the state, and what is to be done. */
export type Pressed = { state: ViewState; action: ViewAction }

export function only(state: ViewState): Pressed {
  return { state, action: { kind: "none" } }
}

export function withoutEdit(state: ViewState): ViewState {
  if (state.editing === null) return state
  return { ...state, editing: null, prompt: withText(state.prompt, "") }
}
