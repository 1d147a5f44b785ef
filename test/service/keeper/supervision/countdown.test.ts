import { describe, expect, test } from "bun:test"
import { Countdown } from "../../../../src/service/keeper/supervision/running-clocks.ts"
import { ManualClock } from "../../../support/manual-clock.ts"

function counting(limitMs: number) {
  const clock = new ManualClock()
  const expired: number[] = []
  const countdown = new Countdown(clock, limitMs, () => expired.push(clock.monotonicMs()))
  return { clock, countdown, expired }
}

describe("a countdown", () => {
  test("expires once, when its time is over", () => {
    const { clock, expired } = counting(1000)

    clock.advance(999)
    expect(expired).toEqual([])
    clock.advance(1)
    clock.advance(10_000)

    expect(expired).toEqual([1000])
  })

  test("does not count while it is stopped", () => {
    const { clock, countdown, expired } = counting(1000)
    clock.advance(600)

    countdown.stop()
    countdown.stop()
    clock.advance(100_000)
    expect(clock.pending).toBe(0)
    countdown.go()
    countdown.go()
    clock.advance(399)

    expect(expired).toEqual([])
    clock.advance(1)
    expect(expired).toEqual([101_000])
  })

  test("begins anew at a restart, without a timer of its own for each", () => {
    const { clock, countdown, expired } = counting(1000)

    for (let times = 0; times < 100; times++) {
      clock.advance(500)
      countdown.restart()
      expect(clock.pending).toBe(1)
    }

    expect(expired).toEqual([])
    clock.advance(1000)
    expect(expired).toEqual([51_000])
  })

  test("that is restarted while stopped has its whole time when it goes on", () => {
    const { clock, countdown, expired } = counting(1000)
    clock.advance(900)

    countdown.stop()
    countdown.restart()
    countdown.go()
    clock.advance(999)

    expect(expired).toEqual([])
    clock.advance(1)
    expect(expired).toEqual([1900])
  })

  test("says nothing after it is disposed", () => {
    const { clock, countdown, expired } = counting(1000)

    countdown[Symbol.dispose]()
    countdown.restart()
    clock.advance(5000)

    expect(expired).toEqual([])
    expect(clock.pending).toBe(0)
  })
})
