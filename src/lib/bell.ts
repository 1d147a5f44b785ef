/** Remembers a ring until somebody waits for it: none is lost between looking and waiting. */
export class Bell {
  #rung = false
  #waiting: (() => void) | null = null

  ring(): void {
    this.#rung = true
    this.#waiting?.()
  }

  /** For one at a time. */
  async rung(): Promise<void> {
    if (!this.#rung) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting = resolve
      await promise
      this.#waiting = null
    }
    this.#rung = false
  }
}
