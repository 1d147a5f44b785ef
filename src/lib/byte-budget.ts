/** So many bytes may be held in memory at once, by whoever asks first. */
export class ByteBudget {
  readonly #limitBytes: number
  #heldBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Null when that much is not to be had now; else it is given back when it is disposed. */
  hold(bytes: number): Disposable | null {
    if (this.#heldBytes > 0 && this.#heldBytes + bytes > this.#limitBytes) return null
    this.#heldBytes += bytes
    return {
      [Symbol.dispose]: () => {
        this.#heldBytes -= bytes
      },
    }
  }
}
