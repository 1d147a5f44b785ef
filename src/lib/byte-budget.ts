export type ByteLimits = { limitBytes: number; limitBytesEach: number }

/** So many bytes may be held in memory at once, by all and by each. */
export class ByteBudget {
  readonly #limits: ByteLimits
  readonly #heldBytes = new Map<string, number>()
  #allHeldBytes = 0

  constructor(limits: ByteLimits) {
    this.#limits = limits
  }

  /** Null when that much is not to be had now; else it is given back when it is disposed. */
  hold(holder: string, bytes: number): Disposable | null {
    const ownBytes = (this.#heldBytes.get(holder) ?? 0) + bytes
    if (ownBytes > this.#limits.limitBytesEach) return null
    if (this.#allHeldBytes + bytes > this.#limits.limitBytes) return null
    this.#add(holder, bytes)
    return { [Symbol.dispose]: () => this.#add(holder, -bytes) }
  }

  #add(holder: string, bytes: number): void {
    const ownBytes = (this.#heldBytes.get(holder) ?? 0) + bytes
    if (ownBytes > 0) this.#heldBytes.set(holder, ownBytes)
    else this.#heldBytes.delete(holder)
    this.#allHeldBytes += bytes
  }
}
