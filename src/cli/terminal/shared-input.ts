import { AutoResetEvent } from "../../lib/auto-reset-event.ts"
import type { Input } from "../context.ts"

/**
 * Standard input for several who read it in turns: it can be opened only once, and whoever has had
 * enough of it leaves the rest to the next.
 */
export class SharedInput implements Input, Disposable {
  readonly kind: Input["kind"]
  readonly #input: Input
  readonly #over = new AbortController()
  readonly #arrived = new AutoResetEvent()
  #waiting: Uint8Array[] = []
  #ending: { error: unknown } | "open" | "ended" = "open"

  constructor(input: Input) {
    this.kind = input.kind
    this.#input = input
    void this.#read()
  }

  isFedBySibling(): boolean {
    return this.#input.isFedBySibling()
  }

  rawMode() {
    return this.#input.rawMode()
  }

  /** For one reader at a time. */
  async *chunks(until: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    const wake = () => this.#arrived.set()
    until.addEventListener("abort", wake)
    try {
      while (!until.aborted) {
        const chunk = this.#waiting.shift()
        if (chunk !== undefined) yield chunk
        else if (this.#ending === "ended") return
        else if (this.#ending !== "open") throw this.#ending.error
        else await this.#arrived.wait()
      }
    } finally {
      until.removeEventListener("abort", wake)
    }
  }

  /** What nobody has read yet is for nobody. */
  discard(): void {
    this.#waiting = []
  }

  [Symbol.dispose](): void {
    this.#over.abort()
  }

  async #read(): Promise<void> {
    try {
      for await (const chunk of this.#input.chunks(this.#over.signal)) {
        this.#waiting.push(chunk)
        this.#arrived.set()
      }
      this.#ending = "ended"
    } catch (error) {
      this.#ending = { error }
    }
    this.#arrived.set()
  }
}
