import type { Clock } from "./ports.ts"

/** Runs out when nobody has held it for a while. It begins unheld. */
export class Lease implements Disposable {
  readonly #clock: Clock
  readonly #durationMs: number
  readonly #ranOut: () => void
  #timer: Disposable | null = null

  constructor(clock: Clock, durationMs: number, ranOut: () => void) {
    this.#clock = clock
    this.#durationMs = durationMs
    this.#ranOut = ranOut
    this.setHolders(0)
  }

  setHolders(count: number): void {
    if (count > 0) this[Symbol.dispose]()
    else this.#timer ??= this.#clock.after(this.#durationMs, this.#ranOut)
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = null
  }
}
