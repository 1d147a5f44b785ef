import { HeldBy } from "../../../lib/held-by.ts"

export type SeatLimits = { mostConnections: number; mostConnectionsPerAddress: number }

export type SeatRefusal = "too many connections" | "too many connections from this address"

/** Counts who is connected, so that neither one address nor all together take everything. */
export class Seats {
  readonly #limits: SeatLimits
  readonly #taken = new HeldBy()

  constructor(limits: SeatLimits) {
    this.#limits = limits
  }

  /** A seat, left when it is disposed; or why there is none. */
  take(whose: string): Disposable | SeatRefusal {
    const { mostConnections, mostConnectionsPerAddress } = this.#limits
    if (this.#taken.total >= mostConnections) return "too many connections"
    if (this.#taken.of(whose) < mostConnectionsPerAddress) return this.#taken.hold(whose)
    return "too many connections from this address"
  }
}
