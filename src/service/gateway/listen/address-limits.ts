import { HeldBy } from "../../../lib/held-by.ts"
import { isLoopbackAddress, networkOf } from "../../../lib/tcp-ends.ts"
import { TokenBuckets } from "../../../lib/token-bucket.ts"

/** So many connections one address may have; its own machine's users are known by name instead. */
export class AddressPlaces {
  readonly #most: number
  readonly #taken = new HeldBy()

  constructor(most: number) {
    this.#most = most
  }

  /** Null when all places of this address are taken; else it is given back when disposed. */
  take(address: string): Disposable | null {
    if (address === "unix" || isLoopbackAddress(address)) return nobodys
    const network = networkOf(address)
    return this.#taken.of(network) < this.#most ? this.#taken.hold(network) : null
  }
}

const nobodys: Disposable = { [Symbol.dispose]: () => undefined }

export type SeatLimits = { mostConnections: number; mostConnectionsPerAddress: number }

type SeatRefusal = "too many connections" | "too many connections from this address"

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

const mostAddresses = 10_000

/** Whoever is turned away again and again is not even listened to for a while. */
export class Knocks {
  readonly #nowMs: () => number
  readonly #failures = new TokenBuckets({ perSecond: 0.5, burst: 20 }, mostAddresses)

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  failed(address: string): void {
    this.#failures.take(networkOf(address), this.#nowMs())
  }

  /** Never on loopback, where one user would keep all others out. */
  isBarred(address: string): boolean {
    if (isLoopbackAddress(address)) return false
    return this.#failures.waitS(networkOf(address), this.#nowMs()) > 0
  }
}
