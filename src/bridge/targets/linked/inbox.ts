import type { Received } from "./link.ts"

/** Takes messages that cannot be held back at their source, and passes them on one by one. */
export class Inbox {
  readonly #most: number
  readonly #received: Received
  #texts: string[] = []
  #length = 0
  #passing: Promise<void> | null = null
  #isClosed = false

  /** `most` characters may wait. */
  constructor(most: number, received: Received) {
    this.#most = most
    this.#received = received
  }

  /** False when it is full: the message is not taken. One alone always finds room. */
  put(text: string): boolean {
    if (this.#isClosed) return true // nobody wants it
    if (this.#length > 0 && this.#length + text.length > this.#most) return false
    this.#texts.push(text)
    this.#length += text.length
    this.#passing ??= this.#pass()
    return true
  }

  /** Takes nothing more; resolves when everything taken has been passed on. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#passing
  }

  async #pass(): Promise<void> {
    for (let text = this.#texts.shift(); text !== undefined; text = this.#texts.shift()) {
      await this.#received(text)
      this.#length -= text.length
    }
    this.#passing = null
  }
}
