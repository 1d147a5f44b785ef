import { isLoopbackAddress, networkOf } from "../../lib/tcp-ends.ts"
import { TokenBuckets } from "../../lib/token-bucket.ts"

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
