import { TokenBuckets } from "../../../lib/token-bucket.ts"
import type { Clock } from "../ports.ts"

const leastBurst = 10
/** More principals than there can be tokens for. */
const mostPrincipals = 10_000

/**
 * How often each principal may ask for a start. A burst of a tenth of a minute's worth passes, and
 * of ten at least.
 */
export class StartRate {
  readonly #clock: Pick<Clock, "monotonicMs">
  readonly #buckets: TokenBuckets

  constructor(startsPerMinute: number, clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock
    const burst = Math.max(leastBurst, Math.floor(startsPerMinute / 10))
    this.#buckets = new TokenBuckets({ perSecond: startsPerMinute / 60, burst }, mostPrincipals)
  }

  /** Principals that are remembered. */
  get size(): number {
    return this.#buckets.size
  }

  /** Counts a start, and answers 0; or nothing, and answers the seconds until one may pass. */
  take(principal: string): number {
    return this.#buckets.take(principal, this.#clock.monotonicMs())
  }
}
