import { fitting, visible } from "./line.ts"
import type { Typed } from "./typed-input.ts"

/** What a person is typing. */
export type PromptLine = {
  readonly text: string
  /** Where the cursor is in the text. */
  readonly at: number
  /** What was sent before, oldest first. */
  readonly history: readonly string[]
  /** Which of those is shown; after the last one it is what is being typed. */
  readonly shown: number
  /** What was being typed before the history was looked at. */
  readonly draft: string
}

const mostHistory = 200
/** Of one turn, which the service would refuse if it were longer. */
const mostCharacters = 4 * 1024 * 1024

export const emptyPrompt: PromptLine = { text: "", at: 0, history: [], shown: 0, draft: "" }

export function withText(prompt: PromptLine, text: string): PromptLine {
  return { ...prompt, text, at: text.length }
}

/** Emptied, with its text in the history. */
export function sent(prompt: PromptLine): PromptLine {
  const { history, text } = prompt
  const all = history.at(-1) === text ? history : [...history, text].slice(-mostHistory)
  return { ...emptyPrompt, history: all, shown: all.length }
}

/** What a key makes of it. */
export function edited(prompt: PromptLine, key: Typed): PromptLine {
  const { text, at } = prompt
  const before = text.slice(0, at)
  const after = text.slice(at)
  if (typeof key === "object") {
    return inserted(prompt, "pasted" in key ? key.pasted : key.typed)
  }
  switch (key) {
    case "alt-enter":
      return inserted(prompt, "\n")
    case "left":
      return { ...prompt, at: at - lastLength(before) }
    case "right":
      return { ...prompt, at: at + firstLength(after) }
    case "home":
    case "ctrl-a":
      return { ...prompt, at: before.lastIndexOf("\n") + 1 }
    case "end":
    case "ctrl-e":
      return {
        ...prompt,
        at: at + (after.indexOf("\n") === -1 ? after.length : after.indexOf("\n")),
      }
    case "backspace":
      return replaced(prompt, before.slice(0, at - lastLength(before)), after)
    case "delete":
      return replaced(prompt, before, after.slice(firstLength(after)))
    case "ctrl-u":
      return replaced(prompt, "", after)
    case "ctrl-k":
      return replaced(prompt, before, "")
    case "ctrl-w":
      return replaced(prompt, before.replace(/\S*\s*$/, ""), after)
    case "up":
      return recalled(prompt, prompt.shown - 1)
    case "down":
      return recalled(prompt, prompt.shown + 1)
    default:
      return prompt
  }
}

function inserted(prompt: PromptLine, added: string): PromptLine {
  const { text, at } = prompt
  const room = Math.max(0, mostCharacters - text.length)
  return replaced(prompt, text.slice(0, at) + added.slice(0, room), text.slice(at))
}

function replaced(prompt: PromptLine, before: string, after: string): PromptLine {
  return { ...prompt, text: before + after, at: before.length }
}

function recalled(prompt: PromptLine, shown: number): PromptLine {
  const { history } = prompt
  if (shown < 0 || shown > history.length) return prompt
  const draft = prompt.shown === history.length ? prompt.text : prompt.draft
  return withText({ ...prompt, shown, draft }, history[shown] ?? draft)
}

/** Of a whole character as people see it, in UTF-16 units. */
function firstLength(text: string): number {
  const [first] = graphemes.segment(text.slice(0, 100))
  return first?.segment.length ?? 0
}

function lastLength(text: string): number {
  return [...graphemes.segment(text.slice(-100))].at(-1)?.segment.length ?? 0
}

const graphemes = new Intl.Segmenter()

export type PromptRows = { rows: string[]; row: number; column: number }

/** The rows it takes on a terminal, of which as many are shown around the cursor as may be. */
export function promptRows(
  { text, at }: Pick<PromptLine, "text" | "at">,
  prefix: string,
  width: number,
  most: number,
): PromptRows {
  const indent = " ".repeat(prefix.length)
  const room = Math.max(4, width - prefix.length - 1)
  // What is far from the cursor cannot be seen.
  const near = room * most * 4
  const before = broken(text.slice(0, at).slice(-near), room)
  const rest = text.slice(at, at + near)
  const all = broken(text.slice(0, at).slice(-near) + rest, room)
  const row = before.length - 1
  const column = Bun.stringWidth(before.at(-1) ?? "")
  // The cursor may stand where the next row begins.
  while (all.length <= row) all.push("")
  const first = Math.max(0, Math.min(row - Math.floor(most / 2), all.length - most))
  const rows = all
    .slice(first, first + most)
    .map((one, index) => `${index === 0 ? prefix : indent}${one}`)
  return { rows, row: row - first, column: prefix.length + column }
}

/** Breaks where a line ends, and wherever it becomes too wide. */
function broken(text: string, width: number): string[] {
  return text.split("\n").flatMap((one) => {
    const rows: string[] = []
    let rest = visible(one)
    for (;;) {
      const row = fitting(rest, width)
      rows.push(row)
      rest = rest.slice(row.length)
      if (rest === "") return rows
    }
  })
}
