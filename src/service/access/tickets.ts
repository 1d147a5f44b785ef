import type { Caller } from "./caller.ts"

/** A page cannot send a header with a WebSocket, and a token must not stand in a URL. */
export const ticketLifeMs = 60_000

/** Of one principal, and of all: whoever asks for many of them uses none. */
const mostOfOne = 100
const mostTickets = 10_000

type Issued = { caller: Caller; untilMs: number }

/** Admits whoever shows one, once, in the name of the caller who asked for it. */
export class Tickets {
  readonly #issued = new Map<string, Issued>()
  readonly #random: () => string
  readonly #nowMs: () => number

  constructor(random: () => string, nowMs: () => number) {
    this.#random = random
    this.#nowMs = nowMs
  }

  issue(caller: Caller): string {
    this.#forgetOld()
    this.#makeRoom(caller.principal)
    const ticket = this.#random()
    this.#issued.set(ticket, { caller, untilMs: this.#nowMs() + ticketLifeMs })
    return ticket
  }

  /** Null for one that was used, is too old, or never was. */
  redeem(ticket: string): Caller | null {
    const issued = this.#issued.get(ticket)
    this.#issued.delete(ticket)
    return issued !== undefined && issued.untilMs > this.#nowMs() ? issued.caller : null
  }

  /** One who takes too many loses its own oldest, and nobody else's. */
  #makeRoom(principal: string): void {
    const own = [...this.#issued].filter(([, { caller }]) => caller.principal === principal)
    const [ownOldest] = own[0] ?? []
    const [oldest] = this.#issued.keys()
    if (own.length >= mostOfOne && ownOldest !== undefined) this.#issued.delete(ownOldest)
    else if (this.#issued.size >= mostTickets && oldest !== undefined) this.#issued.delete(oldest)
  }

  /** In the order they were issued, which is the order they run out in. */
  #forgetOld(): void {
    for (const [ticket, { untilMs }] of this.#issued) {
      if (untilMs > this.#nowMs()) return
      this.#issued.delete(ticket)
    }
  }
}
