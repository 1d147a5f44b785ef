import type { TurnContent } from "../../protocol/agent-orders.ts"

export type Turn = { turnId: string; content: TurnContent; by: string }

/** More are refused: a session is no queue of work for weeks. */
const mostWaiting = 1000
const mostRemembered = 10_000

/** The turns of a session: each is accepted once, and given to the agent one after another. */
export class Turns {
  readonly #known = new Set<string>()
  #waiting: Turn[] = []
  #current: Turn | null = null
  #accepted = 0
  #ended = 0

  get current(): Turn | null {
    return this.#current
  }

  counts(): { accepted: number; ended: number; waiting: number; current: string | null } {
    const current = this.#current?.turnId ?? null
    return { accepted: this.#accepted, ended: this.#ended, waiting: this.#waiting.length, current }
  }

  isKnown(turnId: string): boolean {
    return this.#known.has(turnId)
  }

  get isFull(): boolean {
    return this.#waiting.length >= mostWaiting
  }

  /** `now` goes before those that wait. */
  accept(turn: Turn, when: "next" | "now"): void {
    this.#accepted += 1
    this.#known.add(turn.turnId)
    // Who repeats a request does so soon.
    const [oldest] = this.#known
    if (this.#known.size > mostRemembered && oldest !== undefined) this.#known.delete(oldest)
    if (when === "now") this.#waiting.unshift(turn)
    else this.#waiting.push(turn)
  }

  /** The next one is current from now on; null when none waits or one is under way. */
  begin(): Turn | null {
    if (this.#current !== null) return null
    this.#current = this.#waiting.shift() ?? null
    return this.#current
  }

  end(): Turn | null {
    const ended = this.#current
    this.#current = null
    if (ended !== null) this.#ended += 1
    return ended
  }

  /** What waits will not be given to the agent any more. */
  dropWaiting(): Turn[] {
    const dropped = this.#waiting
    this.#waiting = []
    this.#ended += dropped.length
    return dropped
  }
}
