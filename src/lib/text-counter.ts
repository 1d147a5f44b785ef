const leastBatchCharacters = 64 * 1024

/** Counts how often a text stands in another one that comes in pieces, without overlaps. */
export class TextCounter {
  readonly #wanted: string
  readonly #batchCharacters: number
  #held = ""
  #count = 0

  constructor(wanted: string) {
    this.#wanted = wanted
    this.#batchCharacters = Math.max(leastBatchCharacters, 2 * wanted.length)
  }

  push(piece: string): void {
    this.#held += piece
    if (this.#held.length >= this.#batchCharacters) this.#search()
  }

  /** How often it stood in all that was pushed. */
  total(): number {
    if (this.#held.length >= this.#wanted.length) this.#search()
    return this.#count
  }

  /** Only what could be the beginning of another one is kept. */
  #search(): void {
    let from = 0
    let found = this.#held.indexOf(this.#wanted)
    while (found !== -1) {
      this.#count += 1
      from = found + this.#wanted.length
      found = this.#held.indexOf(this.#wanted, from)
    }
    this.#held = this.#held.slice(Math.max(from, this.#held.length - this.#wanted.length + 1))
  }
}
