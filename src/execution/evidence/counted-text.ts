import { type JsonEvents, JsonScanner } from "../../lib/json-scanner.ts"
import { TextCounter } from "../../lib/text-counter.ts"

const mostHeadCharacters = 2000

/** A text that is being read; where it is JSON itself, what stands in its strings counts too. */
export class CountedText {
  readonly #counter: TextCounter
  readonly #sought: string
  #inner: { scanner: JsonScanner; counter: StringCounter } | null = null
  #head = ""

  constructor(sought: string) {
    this.#sought = sought
    this.#counter = new TextCounter(sought)
  }

  push(piece: string): void {
    if (this.#head === "" && /^\s*[[{]/.test(piece)) this.#inner = jsonIn(this.#sought)
    if (this.#head.length < mostHeadCharacters) {
      this.#head = (this.#head + piece).slice(0, mostHeadCharacters)
    }
    this.#counter.push(piece)
    this.#inner?.scanner.push(piece)
  }

  close(): { head: string; times: number } {
    const isJson = this.#inner?.scanner.end() === true
    const inside = isJson ? (this.#inner?.counter.times ?? 0) : 0
    return { head: this.#head, times: Math.max(this.#counter.total(), inside) }
  }
}

function jsonIn(sought: string) {
  const counter = new StringCounter(sought)
  return { scanner: new JsonScanner(counter), counter }
}

class StringCounter implements JsonEvents {
  times = 0
  readonly #sought: string
  #counter: TextCounter

  constructor(sought: string) {
    this.#sought = sought
    this.#counter = new TextCounter(sought)
  }

  open(): void {}
  close(): void {}

  key(name: string): void {
    this.text(name, true)
  }

  text(piece: string, isLast: boolean): void {
    this.#counter.push(piece)
    if (!isLast) return
    this.times += this.#counter.total()
    this.#counter = new TextCounter(this.#sought)
  }

  scalar(written: string): void {
    this.text(written, true)
  }
}
