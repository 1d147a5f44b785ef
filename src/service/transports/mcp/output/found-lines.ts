import type { SearchedLine } from "./searched-lines.ts"

const mostLineCharacters = 400

/** Lines that match, and those around them, as text. */
export class FoundLines {
  matches = 0
  /** In characters. */
  length = 0
  readonly #contextLines: number
  readonly #shown: string[] = []
  #before: string[] = []
  #after = 0
  #number = 0
  #lastShown = 0

  constructor(contextLines: number) {
    this.#contextLines = contextLines
  }

  add({ isMatch, head }: SearchedLine): void {
    this.#number += 1
    if (isMatch) {
      this.#addMatch(head)
      return
    }
    if (this.#contextLines === 0) return
    const text = `${this.#number}-${textOf(head)}`
    if (this.#after > 0) {
      this.#after -= 1
      this.#show(text)
      this.#lastShown = this.#number
      return
    }
    this.#before.push(text)
    if (this.#before.length > this.#contextLines) this.#before.shift()
  }

  result(): { text: string; matches: number } {
    return { text: this.#shown.join("\n"), matches: this.matches }
  }

  #addMatch(head: Uint8Array): void {
    const first = this.#number - this.#before.length
    if (this.#lastShown > 0 && first > this.#lastShown + 1) this.#show("--")
    for (const text of this.#before) this.#show(text)
    this.#before = []
    this.#show(`${this.#number}:${textOf(head)}`)
    this.matches += 1
    this.#after = this.#contextLines
    this.#lastShown = this.#number
  }

  #show(text: string): void {
    this.#shown.push(text)
    this.length += text.length + 1
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

function textOf(head: Uint8Array): string {
  const text = decoder.decode(head)
  return text.length <= mostLineCharacters ? text : `${text.slice(0, mostLineCharacters)}…`
}
