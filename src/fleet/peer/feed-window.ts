const firstBytes = 256 * 1024
const mostBytes = 2 * 1024 * 1024
/** Of all windows that have grown, beyond what each begins with. */
const mostGrownBytes = 64 * 1024 * 1024
let grownBytes = 0

/**
 * How much of a feed may be on its way from another node, or wait here to be taken. Who takes it as
 * fast as it comes gets a larger one: one who is slow never holds more than the first.
 */
export class FeedWindow implements Disposable {
  #bytes = firstBytes
  /** Taken, and the sender has not been told yet. */
  #untoldBytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Answers how much more may be sent now; null while it is not worth a message, unless the last
   * that was here has been taken by one that a child may wait for.
   */
  taken(bytes: number, isEmpty: boolean, isAwaited: boolean): number | null {
    this.#untoldBytes += bytes
    const isMuch = this.#untoldBytes >= this.#bytes / 4
    if (!isMuch && !(isEmpty && isAwaited)) return null
    const allowed = this.#untoldBytes + (isMuch && isEmpty ? this.#grow() : 0)
    this.#untoldBytes = 0
    return allowed
  }

  /** A new connection begins with all of it: nothing is on its way. */
  startOver(waitingBytes: number): number {
    this.#untoldBytes = 0
    return Math.max(1, this.#bytes - waitingBytes)
  }

  [Symbol.dispose](): void {
    grownBytes -= this.#bytes - firstBytes
    this.#bytes = firstBytes
  }

  #grow(): number {
    const more = Math.min(this.#bytes, mostBytes - this.#bytes, mostGrownBytes - grownBytes)
    if (more <= 0) return 0
    this.#bytes += more
    grownBytes += more
    return more
  }
}
