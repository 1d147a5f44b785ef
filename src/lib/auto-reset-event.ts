/** Stays set until somebody waits for it, so nothing is missed between checking and waiting. */
export class AutoResetEvent {
  #isSet = false
  #waiting: (() => void) | null = null

  set(): void {
    this.#isSet = true
    this.#waiting?.()
  }

  /** For one at a time. */
  async wait(): Promise<void> {
    if (!this.#isSet) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting = resolve
      await promise
      this.#waiting = null
    }
    this.#isSet = false
  }
}
