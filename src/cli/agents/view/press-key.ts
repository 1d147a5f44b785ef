import type { Question } from "../../../execution/agent.ts"
import { answerKey, finishEdit } from "./answer-keys.ts"
import { edited, sent, withText } from "./prompt-line.ts"
import type { Typed } from "./typed-input.ts"
import { only, type Pressed, type ViewState, withoutEdit } from "./view-state.ts"

/** What of the session decides what a key means. */
export type Surroundings = {
  /** The question that is to be answered next. */
  question: Question | null
  /** It has only just appeared: whoever presses a key now may have meant something else. */
  isFresh: boolean
  isBusy: boolean
}

export function pressKey(before: ViewState, key: Typed, around: Surroundings): Pressed {
  if (key === "ctrl-c") return pressCtrlC(before, around.isBusy)
  const state = { ...before, message: "", isLeaving: false }
  const isFree = state.prompt.text === "" && state.editing === null
  if (key === "ctrl-d" && isFree) return { state, action: { kind: "leave" } }
  if (key === "ctrl-l") return { state, action: { kind: "redraw" } }
  if (key === "escape") return only(withoutEdit(state))
  if (key === "enter") return pressEnter(state)
  if (isFree && around.question !== null) {
    const answered = answerKey(state, key, around.question, around.isFresh)
    if (answered !== null) return answered
  }
  return only({ ...state, prompt: edited(state.prompt, key) })
}

function pressCtrlC(state: ViewState, isBusy: boolean): Pressed {
  if (state.isLeaving) return { state, action: { kind: "leave" } }
  if (state.editing !== null) return only(withoutEdit({ ...state, message: "" }))
  const again = "Ctrl-C again leaves; the session goes on."
  if (!isBusy) {
    const prompt = withText(state.prompt, "")
    return only({ ...state, prompt, isLeaving: true, message: again })
  }
  const message = `Interrupting the turn. ${again}`
  return { state: { ...state, isLeaving: true, message }, action: { kind: "interrupt" } }
}

function pressEnter(state: ViewState): Pressed {
  const { prompt, editing } = state
  if (editing !== null) return finishEdit(state, editing)
  if (prompt.text.trim() === "") return only({ ...state, prompt: withText(prompt, "") })
  return { state: { ...state, prompt: sent(prompt) }, action: { kind: "send", text: prompt.text } }
}
