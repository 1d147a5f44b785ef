export type SeatLimits = { mostConnections: number; mostConnectionsPerAddress: number }

export type SeatRefusal = "too many connections" | "too many connections from this address"

/** Counts who is connected, so that neither one address nor all together take everything. */
export class Seats {
  readonly #limits: SeatLimits
  readonly #byWhom = new Map<string, number>()
  #taken = 0

  constructor(limits: SeatLimits) {
    this.#limits = limits
  }

  get taken(): number {
    return this.#taken
  }

  /** Null when it may sit down; the seat is then to be left once. */
  take(whose: string): SeatRefusal | null {
    const fromHere = this.#byWhom.get(whose) ?? 0
    if (this.#taken >= this.#limits.mostConnections) return "too many connections"
    if (fromHere >= this.#limits.mostConnectionsPerAddress) {
      return "too many connections from this address"
    }
    this.#taken += 1
    this.#byWhom.set(whose, fromHere + 1)
    return null
  }

  leave(whose: string): void {
    const fromHere = this.#byWhom.get(whose) ?? 0
    this.#taken -= 1
    if (fromHere > 1) this.#byWhom.set(whose, fromHere - 1)
    else this.#byWhom.delete(whose)
  }
}
