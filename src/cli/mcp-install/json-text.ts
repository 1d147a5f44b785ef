import {
  type JSONVisitor,
  type Node as JsonNode,
  type ParseErrorCode,
  parseTree,
  printParseErrorCode,
  visit,
  // The package's main entry is UMD, whose inner imports a bundler does not see.
} from "jsonc-parser/lib/esm/main.js"
import { fail, ok, type Result } from "../../lib/result.ts"

/** A text of JSON as editors have it, with comments and trailing commas, and where they are. */
export type JsonText = {
  text: string
  root: JsonNode
  /** Where comments begin, and where commas stand that nothing follows. */
  comments: readonly number[]
  trailingCommas: readonly number[]
}
export type JsonTrouble = { line: number; column: number; message: string }

const deepest = 200

export function readJsonText(text: string): Result<JsonText, JsonTrouble> {
  const reader = new Reader(text)
  try {
    visit(text, reader, { allowTrailingComma: true })
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    const before = text.slice(0, error.at).split("\n")
    const column = (before.at(-1) ?? "").length + 1
    return fail({ line: before.length, column, message: error.message })
  }
  const root = parseTree(text, [], { allowTrailingComma: true })
  if (root === undefined) throw new Error("a text without a value was read without an error")
  const { comments, trailingCommas } = reader
  return ok({ text, root, comments, trailingCommas })
}

class UnreadableError extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** The parser goes on after an error as well as it can; this ends it at the first one. */
class Reader implements JSONVisitor {
  readonly comments: number[] = []
  readonly trailingCommas: number[] = []
  readonly #text: string
  /** What closes the containers that are open, the innermost last. */
  readonly #closing: ("}" | "]")[] = []
  /** What may stand next, in the words for whoever has written something else. */
  #wanted = "a value"
  #lastComma: number | null = null

  constructor(text: string) {
    this.#text = text
  }

  readonly onObjectBegin = (at: number) => this.#open(at, "}")
  readonly onArrayBegin = (at: number) => this.#open(at, "]")
  readonly onObjectEnd = (at: number, length: number) => this.#close(at, length)
  readonly onArrayEnd = (at: number, length: number) => this.#close(at, length)
  readonly onLiteralValue = () => this.#valueEnded()
  readonly onComment = (at: number) => void this.comments.push(at)

  readonly onObjectProperty = () => {
    this.#lastComma = null
    this.#wanted = "a colon"
  }

  readonly onSeparator = (character: string, at: number) => {
    if (character === ",") this.#lastComma = at
    this.#wanted = character === "," ? this.#firstWanted() : "a value"
  }

  readonly onError = (code: ParseErrorCode, at: number, length: number) => {
    throw new UnreadableError(at, this.#message(printParseErrorCode(code), at, length))
  }

  #open(at: number, closing: "}" | "]"): void {
    this.#lastComma = null
    this.#closing.push(closing)
    if (this.#closing.length > deepest) throw new UnreadableError(at, "it is nested too deeply")
    this.#wanted = this.#firstWanted()
  }

  #close(at: number, length: number): void {
    if (length === 0) return // the end of the text, which the parser reports next
    if (this.#lastComma !== null) this.trailingCommas.push(this.#lastComma)
    this.#closing.pop()
    this.#valueEnded()
  }

  #valueEnded(): void {
    const closing = this.#closing.at(-1)
    this.#lastComma = null
    this.#wanted = closing === undefined ? "the end of the file" : `a comma or ${closing}`
  }

  #firstWanted(): string {
    return this.#closing.at(-1) === "}" ? 'a key in "quotes"' : "a value"
  }

  #message(error: string, at: number, length: number): string {
    const isOpenEnded = error === "UnexpectedEndOfString" && at + length === this.#text.length
    if (isOpenEnded) return "a string is not closed"
    // To the parser, 01 is two numbers.
    const isZeroAndMore = error === "CommaExpected" && /\d\d/.test(this.#text.slice(at - 1, at + 1))
    if (isZeroAndMore || lexicalErrors.includes(error)) return "this is not a JSON value"
    return `expected ${this.#wanted}`
  }
}

const lexicalErrors = [
  "InvalidCharacter",
  "InvalidEscapeCharacter",
  "InvalidNumberFormat",
  "InvalidUnicode",
  "UnexpectedEndOfNumber",
  "UnexpectedEndOfString",
]
