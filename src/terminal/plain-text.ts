import { SequenceLexer } from "./sequence-lexer.ts"

const lineFeed = 0x0a
const carriageReturn = 0x0d
const backspace = 0x08
const tab = 0x09

/** A line that never ends is handed out in parts. */
const mostLineLength = 64 * 1024
const tabWidth = 8

/**
 * The text that a terminal was sent, without control sequences: lines as they were when they ended.
 * What was written over what stood there before, as progress is, leaves only the last.
 */
export class PlainText {
  readonly #lexer = new SequenceLexer()
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  #line: string[] = []
  #column = 0

  /** The lines that ended in this chunk, each with its line end. */
  add(chunk: Uint8Array): string {
    const lines: string[] = []
    this.#lexer.lex(chunk, (kind, bytes, from, to) => {
      if (kind === "text") this.#write(this.#decoder.decode(bytes.subarray(from, to)), lines)
    })
    return lines.join("")
  }

  /** The last line, which did not end. */
  finish(): string {
    return this.#taken()
  }

  #write(text: string, lines: string[]): void {
    for (const character of text) {
      const code = character.codePointAt(0) ?? 0
      if (code >= 0x20 && (code < 0x7f || code > 0x9f)) this.#put(character)
      else if (code === lineFeed) lines.push(`${this.#taken()}\n`)
      else if (code === carriageReturn) this.#column = 0
      else if (code === backspace) this.#column = Math.max(0, this.#column - 1)
      else if (code === tab) this.#tab()
      if (this.#line.length >= mostLineLength) lines.push(this.#taken())
    }
  }

  #put(character: string): void {
    while (this.#line.length < this.#column) this.#line.push(" ")
    this.#line[this.#column] = character
    this.#column += 1
  }

  #tab(): void {
    const to = (Math.floor(this.#column / tabWidth) + 1) * tabWidth
    while (this.#line.length < to) this.#line.push(" ")
    this.#column = to
  }

  #taken(): string {
    const line = this.#line.join("")
    this.#line = []
    this.#column = 0
    return line
  }
}
