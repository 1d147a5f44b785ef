import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { StartRate } from "../../../../src/service/keeper/admission/admission.ts"
import { ManualClock } from "../../../support/manual-clock.ts"

function taken(rate: StartRate, principal: string, times: number): number[] {
  return Array.from({ length: times }, () => rate.take(principal))
}

describe("six hundred starts a minute", () => {
  test("let a burst of sixty pass, and say then how long to wait", () => {
    const rate = new StartRate(600, new ManualClock())

    const waits = taken(rate, "ann", 61)

    expect(waits.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => 0))
    expect(waits[60]).toBe(0.1)
  })

  test("are counted for each principal by itself", () => {
    const rate = new StartRate(600, new ManualClock())
    taken(rate, "ann", 61)

    expect(rate.take("bob")).toBe(0)
  })
})

test("the smallest rate still lets ten pass at once", () => {
  const rate = new StartRate(1, new ManualClock())

  expect(taken(rate, "ann", 11)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 60])
})

test("who waits as long as it was told is let in, and no sooner", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.array(fc.nat(90_000)),
      (perMinute, pauses) => {
        const clock = new ManualClock()
        const rate = new StartRate(perMinute, clock)
        for (const pauseMs of pauses) {
          clock.advance(pauseMs)
          rate.take("ann")
        }
        let wait = 0
        while (wait === 0) wait = rate.take("ann")
        // Told in whole milliseconds, rounded up.
        const earlyMs = Math.max(0, wait * 1000 - 2)
        clock.advance(earlyMs)
        if (earlyMs > 0) expect(rate.take("ann")).toBeGreaterThan(0)
        clock.advance(wait * 1000 - earlyMs)
        expect(rate.take("ann")).toBe(0)
      },
    ),
  )
})

test("no more than the rate and one burst pass in any time", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(3000), { maxLength: 200 }), (pauses) => {
      const clock = new ManualClock()
      const rate = new StartRate(60, clock)
      let passed = 0
      for (const pauseMs of pauses) {
        clock.advance(pauseMs)
        passed += taken(rate, "ann", 5).filter((wait) => wait === 0).length
      }
      expect(passed).toBeLessThanOrEqual(10 + clock.monotonicMs() / 1000 + 1e-6)
    }),
  )
})

test("principals whose buckets are full again are forgotten", () => {
  const clock = new ManualClock()
  const rate = new StartRate(600, clock)
  for (let number = 0; number < 50_000; number += 1) {
    rate.take(`one of many ${number}`)
    clock.advance(1)
  }

  expect(rate.size).toBeLessThan(3000)
})
