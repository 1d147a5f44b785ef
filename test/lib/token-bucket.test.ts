import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { TokenBucket, TokenBuckets } from "../../src/lib/token-bucket.ts"

describe("a bucket", () => {
  test("lets a burst through, then one at a time, and says how long to wait", () => {
    const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, 0)
    const now = [0, 0, 0, 0].map((ms) => bucket.take(ms))

    expect(now).toEqual([0, 0, 0, 0.5])
    expect(bucket.take(499)).toBeCloseTo(0.001)
    expect(bucket.take(500)).toBe(0)
  })

  test("never lets more through than its burst and its rate, whatever the times", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(300), { maxLength: 200 }), (pauses) => {
        const bucket = new TokenBucket({ perSecond: 10, burst: 5 }, 0)
        let nowMs = 0
        let passed = 0
        for (const pauseMs of pauses) {
          nowMs += pauseMs
          if (bucket.take(nowMs) === 0) passed += 1
        }
        expect(passed).toBeLessThanOrEqual(5 + (nowMs / 1000) * 10 + 1e-6)
      }),
    )
  })

  test("is not filled by a clock that goes back", () => {
    const bucket = new TokenBucket({ perSecond: 1, burst: 1 }, 10_000)
    bucket.take(10_000)

    expect(bucket.take(0)).toBeGreaterThan(0)
    expect(bucket.take(500)).toBeGreaterThan(0)
  })
})

describe("many buckets", () => {
  test("are counted apart", () => {
    const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, 10)

    expect([buckets.take("a", 0), buckets.take("b", 0)]).toEqual([0, 0])
    expect(buckets.take("a", 0)).toBeGreaterThan(0)
  })

  test("past their number forget the full ones first, then the oldest", () => {
    const buckets = new TokenBuckets({ perSecond: 1, burst: 2 }, 2)
    for (const key of ["a", "a", "a", "b"]) buckets.take(key, 0)
    buckets.take("c", 1500) // b is full again and is forgotten; a is not

    expect(buckets.take("a", 1500)).toBe(0)
    expect(buckets.take("a", 1500)).toBeGreaterThan(0)
  })
})
