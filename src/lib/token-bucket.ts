/** So many at once, and so many more each second. Time is the caller's: any clock that goes on. */
export type Rate = { perSecond: number; burst: number }

/** Sums of fractions miss the whole by a little. */
const wholeToken = 1 - 1e-9

/** Lets things through at a rate, and says how long to wait when it does not. */
export class TokenBucket {
  readonly #rate: Rate
  #tokens: number
  #atMs: number

  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate
    this.#tokens = rate.burst
    this.#atMs = nowMs
  }

  /** Zero when it may pass; else the seconds until it may. */
  take(nowMs: number): number {
    const waitS = this.waitS(nowMs)
    if (waitS === 0) this.#tokens = Math.max(0, this.#tokens - 1)
    return waitS
  }

  /** The same, without taking anything. */
  waitS(nowMs: number): number {
    this.#refill(nowMs)
    if (this.#tokens >= wholeToken) return 0
    // Rounded up to the millisecond: who waits exactly so long must find a whole token.
    return Math.ceil(((1 - this.#tokens) / this.#rate.perSecond) * 1000) / 1000
  }

  /** As new: nothing is lost by forgetting it. */
  isFull(nowMs: number): boolean {
    this.#refill(nowMs)
    return this.#tokens >= this.#rate.burst
  }

  #refill(nowMs: number): void {
    const elapsedS = Math.max(0, nowMs - this.#atMs) / 1000
    this.#atMs = nowMs
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + elapsedS * this.#rate.perSecond)
  }
}

const sweepEveryMs = 1000

/** A bucket for each of many: those that are full again are forgotten. */
export class TokenBuckets {
  readonly #rate: Rate
  readonly #most: number
  readonly #buckets = new Map<string, TokenBucket>()
  #sweptAtMs = Number.NEGATIVE_INFINITY

  /** Past `most` of them that are not full, the oldest is forgotten: memory has a bound. */
  constructor(rate: Rate, most: number) {
    this.#rate = rate
    this.#most = most
  }

  get size(): number {
    return this.#buckets.size
  }

  take(key: string, nowMs: number): number {
    const known = this.#buckets.get(key)
    if (known !== undefined) return known.take(nowMs)
    if (this.#buckets.size >= this.#most) this.#makeRoom(nowMs)
    const bucket = new TokenBucket(this.#rate, nowMs)
    this.#buckets.set(key, bucket)
    return bucket.take(nowMs)
  }

  /** How long one would have to wait, without taking anything. */
  waitS(key: string, nowMs: number): number {
    return this.#buckets.get(key)?.waitS(nowMs) ?? 0
  }

  /** A look at all of them takes a while: who makes up new ones must not cause it each time. */
  #makeRoom(nowMs: number): void {
    if (nowMs - this.#sweptAtMs >= sweepEveryMs) {
      this.#sweptAtMs = nowMs
      for (const [key, bucket] of this.#buckets) if (bucket.isFull(nowMs)) this.#buckets.delete(key)
    }
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size >= this.#most && oldest !== undefined) this.#buckets.delete(oldest)
  }
}
