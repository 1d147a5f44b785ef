import { fail, ok, type Result } from "../../lib/result.ts"

/** A piece of JSON, and where in its text it stands: from `start` up to, not including, `end`. */
export type JsonNode = Scalar | Container
type Scalar = { kind: "scalar"; start: number; end: number; value: unknown }
export type Container = {
  kind: "object" | "array"
  start: number
  end: number
  items: Item[]
  /** A comma after the last item, which comes with the comments: JSON itself knows neither. */
  hasTrailingComma: boolean
}
/** The key is empty in an array; `start` is where the key, or else the value, begins. */
export type Item = { key: string; start: number; value: JsonNode }

export type JsonTree = { root: JsonNode; hasComments: boolean; hasTrailingCommas: boolean }
export type JsonTrouble = { line: number; column: number; message: string }

/** Reads JSON as editors have it: comments and trailing commas are taken, and told. */
export function readJsonTree(text: string): Result<JsonTree, JsonTrouble> {
  const reader = new Reader(text)
  try {
    return ok(reader.document())
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    const before = text.slice(0, error.at).split("\n")
    const column = (before.at(-1) ?? "").length + 1
    return fail({ line: before.length, column, message: error.message })
  }
}

export function valueOf(node: JsonNode): unknown {
  if (node.kind === "scalar") return node.value
  if (node.kind === "array") return node.items.map(({ value }) => valueOf(value))
  return Object.fromEntries(node.items.map(({ key, value }) => [key, valueOf(value)]))
}

const byteOrderMark = "\ufeff"
const deepest = 200
const scalarText = /(?:true|false|null|-?[0-9][0-9.eE+-]*)(?![\w.+-])/y
const stringText = /"[^"\\]*(?:\\[^][^"\\]*)*"/y
const spaceText = /[ \t\r\n]*/y
const commentText = /\/\/[^\n]*|\/\*[^]*?\*\//y

class UnreadableError extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

class Reader {
  readonly #text: string
  #at = 0
  #hasComments = false
  #hasTrailingCommas = false

  constructor(text: string) {
    this.#text = text
  }

  document(): JsonTree {
    if (this.#text.startsWith(byteOrderMark)) this.#at = byteOrderMark.length
    this.#skip()
    const root = this.#value(0)
    this.#skip()
    if (this.#at < this.#text.length) throw this.#unexpected("the end of the file")
    return { root, hasComments: this.#hasComments, hasTrailingCommas: this.#hasTrailingCommas }
  }

  #value(depth: number): JsonNode {
    if (depth > deepest) throw new UnreadableError(this.#at, "it is nested too deeply")
    const next = this.#text[this.#at]
    if (next === "{") return this.#container("object", "}", depth)
    if (next === "[") return this.#container("array", "]", depth)
    const start = this.#at
    if (next === '"') {
      const value = this.#string()
      return { kind: "scalar", start, end: this.#at, value }
    }
    const word = this.#match(scalarText)
    if (word === null) throw this.#unexpected("a value")
    return { kind: "scalar", start, end: this.#at, value: this.#parsed(word, start) }
  }

  #container(kind: Container["kind"], close: string, depth: number): Container {
    const start = this.#at
    const items: Item[] = []
    let hasTrailingComma = false
    this.#at += 1
    for (;;) {
      this.#skip()
      if (this.#take(close)) break
      if (items.length > 0 && !hasTrailingComma) throw this.#unexpected(`a comma or ${close}`)
      items.push(kind === "object" ? this.#member(depth) : this.#element(depth))
      this.#skip()
      hasTrailingComma = this.#take(",")
    }
    this.#hasTrailingCommas ||= hasTrailingComma
    return { kind, start, end: this.#at, items, hasTrailingComma }
  }

  #member(depth: number): Item {
    const start = this.#at
    if (this.#text[start] !== '"') throw this.#unexpected('a key in "quotes"')
    const key = this.#string()
    this.#skip()
    if (!this.#take(":")) throw this.#unexpected("a colon")
    this.#skip()
    return { key, start, value: this.#value(depth + 1) }
  }

  #element(depth: number): Item {
    return { key: "", start: this.#at, value: this.#value(depth + 1) }
  }

  #string(): string {
    const start = this.#at
    const text = this.#match(stringText)
    if (text === null) throw new UnreadableError(start, "a text has no end")
    return String(this.#parsed(text, start))
  }

  #parsed(text: string, start: number): unknown {
    try {
      return JSON.parse(text)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      throw new UnreadableError(start, "this is no value that JSON knows")
    }
  }

  /** Whatever means nothing: space and comments. */
  #skip(): void {
    this.#match(spaceText)
    while (this.#match(commentText) !== null) {
      this.#hasComments = true
      this.#match(spaceText)
    }
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at += character.length
    return true
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? null
    this.#at += found?.length ?? 0
    return found
  }

  #unexpected(wanted: string): UnreadableError {
    return new UnreadableError(this.#at, `${wanted} should stand there`)
  }
}
