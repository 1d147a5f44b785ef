import { isLoopbackAddress, networkOf } from "../../../lib/tcp-ends.ts"
import { TokenBuckets } from "../../../lib/token-bucket.ts"
import { UsageCounter } from "../../../lib/usage-counter.ts"

/** Limits the connections of one remote address; local users are identified by name instead. */
export class ConnectionLimiter {
  readonly #most: number
  readonly #connections = new UsageCounter()

  constructor(most: number) {
    this.#most = most
  }

  /** Null when the address has all it may have; a connection is released by disposing it. */
  acquire(address: string): Disposable | null {
    if (address === "unix" || isLoopbackAddress(address)) return unlimited
    const network = networkOf(address)
    return this.#connections.of(network) < this.#most ? this.#connections.acquire(network) : null
  }
}

const unlimited: Disposable = { [Symbol.dispose]: () => undefined }

export type ConnectionLimits = { mostConnections: number; mostConnectionsPerAddress: number }

type ConnectionRefusal = "too many connections" | "too many connections from this address"

/** Limits all connections together, and those of each address. */
export class TotalConnectionLimiter {
  readonly #limits: ConnectionLimits
  readonly #connections = new UsageCounter()

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** A connection, released by disposing it; or why it is refused. */
  acquire(whose: string): Disposable | ConnectionRefusal {
    const { mostConnections, mostConnectionsPerAddress } = this.#limits
    if (this.#connections.total >= mostConnections) return "too many connections"
    if (this.#connections.of(whose) < mostConnectionsPerAddress)
      return this.#connections.acquire(whose)
    return "too many connections from this address"
  }
}

const mostAddresses = 10_000

/** Addresses whose TLS handshakes keep failing are blocked for a while. */
export class HandshakeFailures {
  readonly #nowMs: () => number
  readonly #failures = new TokenBuckets({ perSecond: 0.5, burst: 20 }, mostAddresses)

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  add(address: string): void {
    this.#failures.take(networkOf(address), this.#nowMs())
  }

  /** Never on loopback, where one user would keep all others out. */
  isBlocked(address: string): boolean {
    if (isLoopbackAddress(address)) return false
    return this.#failures.waitS(networkOf(address), this.#nowMs()) > 0
  }
}
