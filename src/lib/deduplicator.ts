type Counted<Entry> = { entry: Entry; count: number; endsMs: number }

/**
 * Reports the first entry of a kind at once, and how many like it followed when its window is
 * over. What is kept in the meantime is bounded by the number of kinds.
 */
export class Deduplicator<Entry> {
  readonly #windowMs: number
  readonly #mostKinds: number
  readonly #windows = new Map<string, Counted<Entry>>()

  constructor(windowMs: number, mostKinds: number) {
    this.#windowMs = windowMs
    this.#mostKinds = mostKinds
  }

  get isEmpty(): boolean {
    return this.#windows.size === 0
  }

  /** `full` when there are too many kinds to remember another one. */
  add(kind: string, entry: Entry, nowMs: number): "first" | "counted" | "full" {
    const window = this.#windows.get(kind)
    if (window !== undefined) {
      window.count += 1
      return "counted"
    }
    if (this.#windows.size >= this.#mostKinds) return "full"
    this.#windows.set(kind, { entry, count: 0, endsMs: nowMs + this.#windowMs })
    return "first"
  }

  /** Those whose window is over, if any came after the first: a kind that goes on stays. */
  due(nowMs: number): Array<{ entry: Entry; count: number }> {
    const over = [...this.#windows].filter(([, { endsMs }]) => endsMs <= nowMs)
    return over.flatMap(([kind, { entry, count }]) => {
      if (count === 0) this.#windows.delete(kind)
      else this.#windows.set(kind, { entry, count: 0, endsMs: nowMs + this.#windowMs })
      return count === 0 ? [] : [{ entry, count }]
    })
  }
}
