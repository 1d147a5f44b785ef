import type { Counted } from "./counted-json.ts"
import { timesIn } from "./counted-json.ts"

export type ToolUse = {
  tool: string | null
  input: string | null
  inInput: boolean | null
  /** Somebody has answered in the tool's place: its output is that answer. */
  isAnswered: boolean
}

const mostOpen = 1000
const mostQuestions = 1000
const mostInputCharacters = 2000

const unknownUse: ToolUse = { tool: null, input: null, inInput: null, isAnswered: false }

/** The tools that were used and have not said anything yet. */
export class ToolUses {
  readonly #open = new Map<string, ToolUse>()
  /** By question, the use that it is about. */
  readonly #questions = new Map<string, string>()
  /** Uses so far with the text in their input. */
  inputsWithText = 0

  begin(id: string, tool: string, input: Counted | undefined, times: number): void {
    const use = { tool, input: jsonOf(input), inInput: times > 0, isAnswered: false }
    if (use.inInput) this.inputsWithText += 1
    remember(this.#open, id, use, mostOpen)
  }

  ask(questionId: string, useId: string): void {
    remember(this.#questions, questionId, useId, mostQuestions)
  }

  /** Allowed with another input. */
  changeInput(questionId: string, input: Counted): void {
    const use = this.#asked(questionId)
    if (use === null) return
    const hadText = use.inInput === true
    use.input = jsonOf(input)
    use.inInput = hadText || timesIn(input) > 0
    if (use.inInput && !hadText) this.inputsWithText += 1
  }

  deny(questionId: string): void {
    const use = this.#asked(questionId)
    if (use !== null) use.isAnswered = true
  }

  end(id: string): ToolUse {
    const use = this.#open.get(id) ?? unknownUse
    this.#open.delete(id)
    return use
  }

  #asked(questionId: string): ToolUse | null {
    const useId = this.#questions.get(questionId)
    this.#questions.delete(questionId)
    return useId === undefined ? null : (this.#open.get(useId) ?? null)
  }
}

/** The oldest goes when there are too many. Keys are copied: they are cut out of large texts. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.set(String(JSON.parse(JSON.stringify(key))), value)
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}

function jsonOf(value: Counted | undefined): string | null {
  if (value === undefined) return null
  const json = JSON.stringify(plainOf(value))
  return json.length <= mostInputCharacters ? json : `${json.slice(0, mostInputCharacters)}…`
}

function plainOf(value: Counted): unknown {
  switch (value.kind) {
    case "text":
      return value.head
    case "scalar":
      return JSON.parse(value.written)
    case "list":
      return value.items.map(plainOf)
    case "object":
      return Object.fromEntries([...value.fields].map(([name, field]) => [name, plainOf(field)]))
  }
}
