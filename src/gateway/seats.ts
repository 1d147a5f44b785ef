import { networkOf } from "../execution/tcp-ends.ts"

export type SeatLimits = { mostConnections: number; mostConnectionsPerAddress: number }

export type SeatRefusal = "too many connections" | "too many connections from this address"

/** Counts who is connected, so that neither one address nor all together take everything. */
export class Seats {
  readonly #limits: SeatLimits
  readonly #byNetwork = new Map<string, number>()
  #taken = 0

  constructor(limits: SeatLimits) {
    this.#limits = limits
  }

  get taken(): number {
    return this.#taken
  }

  /** Null when it may sit down; the seat is then to be left once. */
  take(address: string): SeatRefusal | null {
    const network = networkOf(address)
    const fromHere = this.#byNetwork.get(network) ?? 0
    if (this.#taken >= this.#limits.mostConnections) return "too many connections"
    if (fromHere >= this.#limits.mostConnectionsPerAddress) {
      return "too many connections from this address"
    }
    this.#taken += 1
    this.#byNetwork.set(network, fromHere + 1)
    return null
  }

  leave(address: string): void {
    const network = networkOf(address)
    const fromHere = this.#byNetwork.get(network) ?? 0
    this.#taken -= 1
    if (fromHere > 1) this.#byNetwork.set(network, fromHere - 1)
    else this.#byNetwork.delete(network)
  }
}
