/** First come, first served, and whoever leaves in the middle costs no more than the first. */
export class Line<Value> {
  #first: Standing<Value> | null = null
  #last: Standing<Value> | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Stands at the end; who leaves by itself, or twice, is simply gone. */
  join(value: Value): { leave(): void } {
    const standing: Standing<Value> = { value, before: this.#last, after: null, isHere: true }
    if (this.#last === null) this.#first = standing
    else this.#last.after = standing
    this.#last = standing
    this.#size += 1
    return { leave: () => this.#leave(standing) }
  }

  shift(): Value | null {
    const first = this.#first
    if (first === null) return null
    this.#leave(first)
    return first.value
  }

  #leave(standing: Standing<Value>): void {
    if (!standing.isHere) return
    const { before, after } = standing
    if (before === null) this.#first = after
    else before.after = after
    if (after === null) this.#last = before
    else after.before = before
    standing.isHere = false
    this.#size -= 1
  }
}

type Standing<Value> = {
  value: Value
  before: Standing<Value> | null
  after: Standing<Value> | null
  isHere: boolean
}
