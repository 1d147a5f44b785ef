import { describe, expect, test } from "bun:test"
import { bottomOf } from "../../../../src/cli/agents/view/bottom.ts"
import { line } from "../../../../src/cli/agents/view/line.ts"
import { pressKey, type Surroundings } from "../../../../src/cli/agents/view/press-key.ts"
import { TypedInput } from "../../../../src/cli/agents/view/typed-input.ts"
import {
  initialState,
  type ViewAction,
  type ViewState,
} from "../../../../src/cli/agents/view/view-state.ts"
import { coloursFor } from "../../../../src/cli/terminal/colours.ts"
import { plainText } from "../../../../src/cli/terminal/terminal-text.ts"
import { Question } from "../../../../src/execution/agent.ts"
import { fakeOutput } from "../../fake-context.ts"
import { question } from "./session-events.ts"

const bash = Question.parse(question("q1", "Bash", { command: "make", description: "builds" }))
const idle: Surroundings = { question: null, isFresh: false, isBusy: false }
const asked: Surroundings = { question: bash, isFresh: false, isBusy: true }

function press(keys: string, around: Surroundings = idle, from: ViewState = initialState) {
  let state = from
  const actions: ViewAction[] = []
  for (const key of new TypedInput().read(Buffer.from(keys))) {
    const pressed = pressKey(state, key, around)
    state = pressed.state
    if (pressed.action.kind !== "none") actions.push(pressed.action)
  }
  return { state, actions, text: state.prompt.text, message: state.message }
}

describe("a typed line", () => {
  test("is a turn, and an empty one is nothing", () => {
    expect(press("hello\r").actions).toEqual([{ kind: "send", text: "hello" }])
    expect(press("\r  \r").actions).toEqual([])
    expect(press("\x1b[200~one\ntwo\n\x1b[201~\r").actions).toEqual([
      { kind: "send", text: "one\ntwo\n" },
    ])
  })
})

describe("Ctrl-C", () => {
  test("interrupts the turn; once more leaves", () => {
    expect(press("half\x03", asked)).toMatchObject({
      actions: [{ kind: "interrupt" }],
      text: "half",
    })
    expect(press("\x03\x03", asked).actions).toEqual([{ kind: "interrupt" }, { kind: "leave" }])
    expect(press("\x03x\x03", asked).actions).toEqual([
      { kind: "interrupt" },
      { kind: "interrupt" },
    ])
  })

  test("clears the line where no turn is under way; once more leaves", () => {
    expect(press("half\x03")).toMatchObject({ actions: [], text: "" })
    expect(press("half\x03\x03").actions).toEqual([{ kind: "leave" }])
  })
})

test("Ctrl-D leaves, but not in the middle of a line", () => {
  expect(press("\x04").actions).toEqual([{ kind: "leave" }])
  expect(press("a\x04").actions).toEqual([])
})

describe("a question", () => {
  const allow = { question_id: "q1", behavior: "allow" } as const

  test("is answered by one key", () => {
    expect(press("y", asked).actions).toMatchObject([{ answer: allow }])
    expect(press("n", asked).actions).toMatchObject([{ answer: { behavior: "deny" } }])
    expect(press("a", asked).actions).toMatchObject([{ answer: { ...allow, remember: true } }])
    const noRule = { ...asked, question: { ...bash, suggestions: [] } }
    expect(press("a", noRule)).toMatchObject({
      actions: [],
      message: expect.stringMatching(/no rule/),
    })
  })

  test("is answered by nothing that was meant for something else", () => {
    expect(press("y", { ...asked, isFresh: true })).toMatchObject({ actions: [], text: "" })
    expect(press("my yen\r", asked).actions).toEqual([{ kind: "send", text: "my yen" }])
    expect(press("\x1b[200~y\x1b[201~", asked)).toMatchObject({ actions: [], text: "y" })
  })

  test("is allowed with what was made of its input", () => {
    expect(press("e -k\r", asked).actions).toEqual([
      {
        kind: "answer",
        answer: { ...allow, updated_input: { command: "make -k", description: "builds" } },
      },
    ])
    expect(press("e -k\x1b", asked)).toMatchObject({ actions: [], text: "" })

    const write = Question.parse(question("q1", "Write", { content: "a" }))
    const around = { ...asked, question: write }
    const wrong = press("e!\r", around)
    expect(wrong).toMatchObject({
      actions: [],
      message: expect.stringMatching(/not a JSON object/),
    })
    expect(press("\x7f\r", around, wrong.state).actions).toEqual([
      { kind: "answer", answer: { ...allow, updated_input: { content: "a" } } },
    ])
  })

  test("with choices takes one of each, or other words, and keeps what else it had", () => {
    const choice = (name: string) => ({
      question: name,
      header: name,
      options: [{ label: `${name} 1` }, { label: `${name} 2` }],
    })
    const input = { questions: [choice("A"), choice("B")] }
    const around = { ...asked, question: { ...bash, tool: "AskUserQuestion", input } }

    expect(press("29y", around).actions).toEqual([])
    expect(press("21", around).actions).toEqual([
      {
        kind: "answer",
        answer: { ...allow, updated_input: { ...input, answers: { A: "A 2", B: "B 1" } } },
      },
    ])
    expect(press("enone\r1", around).actions).toMatchObject([
      { answer: { updated_input: { answers: { A: "none", B: "B 1" } } } },
    ])
  })
})

describe("the bottom of the screen", () => {
  const colours = coloursFor(fakeOutput(), {})
  const rowsAt = (cols: number, rows: number, unfinished = "", keys = "") => {
    const state = press(keys).state
    const waiting = unfinished === "" ? [] : [line("anna> Hello"), line("more")]
    const shown = { state, unfinished, waiting, questions: [bash], status: "question 2s" }
    return bottomOf(shown, { cols, rows }, colours)
  }

  test("shows the question, its keys, the status and the prompt", () => {
    const { rows, cursor } = rowsAt(80, 24)
    expect(rows.map(plainText)).toEqual([
      "q1 Allow Bash? make",
      "[y] allow  [n] deny  [e] edit  [a] always: mode acceptEdits",
      "── question 2s ",
      "> ",
    ])
    expect(cursor).toEqual({ row: 3, column: 2 })
  })

  test("fits any terminal, whatever is said and typed", () => {
    for (const [cols, height] of [
      [80, 24],
      [20, 8],
      [10, 5],
    ] as const) {
      const { rows, cursor } = rowsAt(cols, height, "宽 words ".repeat(2_000), "typed ".repeat(500))
      expect(rows.length).toBeLessThan(height)
      for (const row of rows) expect(Bun.stringWidth(plainText(row))).toBeLessThanOrEqual(cols)
      expect(cursor.row).toBe(rows.length - 1)
    }
  })
})
