import { fail, ok, type Result } from "../result.ts"

/** A value as it stands in a text: from its first character to behind its last. */
export type JsonNode = { start: number; end: number } & (
  | { kind: "object"; members: JsonMember[] }
  | { kind: "list"; items: JsonNode[] }
  | { kind: "scalar"; value: string | number | boolean | null }
)

export type JsonMember = { key: string; start: number; value: JsonNode }

/** Where a text is no JSON, and what is wrong there. */
export type JsonTextFault = { at: number; problem: string }

/** Reads JSON, and keeps where everything in it stands. */
export function readJsonText(text: string): Result<JsonNode, JsonTextFault> {
  try {
    return ok(new Reader(text).whole())
  } catch (error) {
    if (!(error instanceof NotJson)) throw error
    return fail({ at: error.at, problem: error.message })
  }
}

/** What a node stands for, as `JSON.parse` gives it. */
export function valueOf(node: JsonNode): unknown {
  switch (node.kind) {
    case "scalar":
      return node.value
    case "list":
      return node.items.map(valueOf)
    case "object":
      return Object.fromEntries(node.members.map(({ key, value }) => [key, valueOf(value)]))
  }
}

export function memberOf(node: JsonNode, key: string): JsonMember | null {
  if (node.kind !== "object") return null
  return node.members.find((member) => member.key === key) ?? null
}

/** It never leaves this file: values nest, and each would have to pass it on. */
class NotJson extends Error {
  readonly at: number

  constructor(at: number, problem: string) {
    super(problem)
    this.at = at
  }
}

const mostDepth = 256
const scalarForm = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.+-])/y
const foundForm = /[\w.+-]{1,20}|[^]/uy

class Reader {
  readonly #text: string
  #at: number
  /** Where what is open begins. */
  readonly #open: number[] = []

  constructor(text: string) {
    this.#text = text
    this.#at = text.startsWith("\uFEFF") ? 1 : 0
  }

  whole(): JsonNode {
    const node = this.#value()
    if (this.#next() !== "") throw this.#unexpected("the end of the text")
    return node
  }

  #value(): JsonNode {
    const first = this.#next()
    const start = this.#at
    if (first === "{") return this.#object(start)
    if (first === "[") return this.#list(start)
    if (first === '"') {
      const value = this.#string()
      return { kind: "scalar", value, start, end: this.#at }
    }
    scalarForm.lastIndex = start
    const written = scalarForm.exec(this.#text)?.[0]
    if (written === undefined) throw this.#unexpected("a value")
    this.#at += written.length
    return { kind: "scalar", value: scalarOf(written), start, end: this.#at }
  }

  #object(start: number): JsonNode {
    const members: JsonMember[] = []
    this.#enter(start)
    for (let next = this.#next(); next !== "}"; next = this.#next()) {
      if (members.length > 0) this.#comma("}")
      if (this.#next() !== '"') throw this.#unexpected("a name in double quotes")
      const at = this.#at
      const key = this.#string()
      if (members.some((member) => member.key === key)) {
        throw new NotJson(at, `${JSON.stringify(key)} stands in this object already`)
      }
      if (this.#next() !== ":") throw this.#unexpected("`:`")
      this.#at += 1
      members.push({ key, start: at, value: this.#value() })
    }
    return { kind: "object", members, start, end: this.#leave() }
  }

  #list(start: number): JsonNode {
    const items: JsonNode[] = []
    this.#enter(start)
    for (let next = this.#next(); next !== "]"; next = this.#next()) {
      if (items.length > 0) this.#comma("]")
      items.push(this.#value())
    }
    return { kind: "list", items, start, end: this.#leave() }
  }

  #comma(end: string): void {
    if (this.#next() !== ",") throw this.#unexpected(`\`,\` or \`${end}\``)
    const comma = this.#at
    this.#at += 1
    if (this.#next() === end)
      throw new NotJson(comma, "nothing may follow the last `,` but a value")
  }

  #enter(start: number): void {
    if (this.#open.length >= mostDepth) throw new NotJson(start, "it nests too deeply")
    this.#open.push(start)
    this.#at = start + 1
  }

  #leave(): number {
    this.#open.pop()
    this.#at += 1
    return this.#at
  }

  #string(): string {
    const start = this.#at
    const text = this.#text
    for (let at = start + 1; at < text.length; at += 1) {
      const character = text.charAt(at)
      if (character === "\\") {
        if (!/^\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/.test(text.slice(at, at + 6))) {
          throw new NotJson(at, "this is no escape sequence of JSON: write `\\\\` for a backslash")
        }
        at += 1
      } else if (character === '"') {
        this.#at = at + 1
        return String(JSON.parse(text.slice(start, at + 1)))
      } else if (character < " ") {
        const what = character === "\n" ? "a line ends within a text" : "a control character"
        throw new NotJson(at, `${what}: write it as an escape sequence, such as \\n`)
      }
    }
    throw new NotJson(start, "this text has no closing quote")
  }

  /** The next character that means something; "" at the end. */
  #next(): string {
    while (/^[ \t\r\n]/.test(this.#text.charAt(this.#at))) this.#at += 1
    return this.#text.charAt(this.#at)
  }

  #unexpected(wanted: string): NotJson {
    foundForm.lastIndex = this.#at
    const found = foundForm.exec(this.#text)?.[0]
    if (found !== undefined) {
      const what = found === '"' ? "a text" : `\`${found}\``
      return new NotJson(this.#at, `here should be ${wanted}, and not ${what}`)
    }
    const open = this.#open.at(-1)
    const since = open === undefined ? "" : `, and what begins in line ${lineAt(this.#text, open)}`
    const ending = open === undefined ? "" : " has no end"
    return new NotJson(this.#at, `the text ends where ${wanted} should be${since}${ending}`)
  }
}

function scalarOf(written: string): number | boolean | null {
  if (written === "null") return null
  return written === "true" || written === "false" ? written === "true" : Number(written)
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split("\n").length
}
