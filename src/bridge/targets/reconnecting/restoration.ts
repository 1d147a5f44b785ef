import { type AnswerMessage, wordOf } from "../../messages/message.ts"
import type { BridgeClock } from "../../ports.ts"
import type { Handshake } from "../handshake.ts"
import type { Link, LinkEnd } from "./link.ts"

const openingMs = 30_000

/** Tells new connections what the client told the first one, and keeps the answers from it. */
export class Restoration {
  readonly #handshake: Handshake
  readonly #clock: BridgeClock
  #awaited: { key: string; answered: (answer: AnswerMessage) => void } | null = null
  #isDone = false

  constructor(handshake: Handshake, clock: BridgeClock) {
    this.#handshake = handshake
    this.#clock = clock
  }

  /** Whether the connection there is has been told everything of the handshake. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Null when it is done, else why this connection is of no use. */
  async begin(link: Link, signal: AbortSignal): Promise<LinkEnd | null> {
    const opening = this.#handshake.opening()
    if (opening !== null) {
      const { promise, resolve } = Promise.withResolvers<AnswerMessage>()
      this.#awaited = { key: opening.key, answered: resolve }
      await link.send(opening.text)
      const late = this.#clock.sleep(openingMs, signal).then(() => null)
      const trouble = troubleIn(await Promise.race([promise, late]))
      if (trouble !== null) return trouble
    }
    const rest = opening === null ? [] : this.#handshake.rest()
    this.#isDone = true
    for (const text of rest) await link.send(text)
    return null
  }

  answered(key: string, answer: AnswerMessage): void {
    if (this.#awaited?.key === key) this.#awaited.answered(answer)
  }

  /** The connection is gone. */
  end(): void {
    this.#isDone = false
    this.#awaited = null
  }
}

function troubleIn(answer: AnswerMessage | null): LinkEnd | null {
  if (answer === null) return { why: "it did not answer the handshake", isTransient: true }
  if (answer.error === null) return null
  const why = `it refused to reopen the session: ${wordOf(answer.error["message"])}`
  return { why, isTransient: false }
}
