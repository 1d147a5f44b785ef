import type { Clock } from "../ports.ts"

/**
 * Runs out when nobody has held it for a while. It may be held before it begins: who waits for a
 * queued execution drives it already.
 */
export class Lease implements Disposable {
  readonly #clock: Clock
  readonly #durationMs: number
  readonly #ranOut: () => void
  #hasBegun = false
  #holders = 0
  #timer: Disposable | null = null

  constructor(clock: Clock, durationMs: number, ranOut: () => void) {
    this.#clock = clock
    this.#durationMs = durationMs
    this.#ranOut = ranOut
  }

  begin(): void {
    this.#hasBegun = true
    this.setHolders(this.#holders)
  }

  setHolders(count: number): void {
    this.#holders = count
    if (count > 0) this[Symbol.dispose]()
    else if (this.#hasBegun) this.#timer ??= this.#clock.after(this.#durationMs, this.#ranOut)
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = null
  }
}
