import { describe, expect, test } from "bun:test"
import { RunningClocks } from "../../../../src/service/keeper/supervision/running-clocks.ts"
import { ManualClock } from "../../../support/manual-clock.ts"

function started(spec: { wallTimeoutMs: number | null; idleTimeoutMs: number | null }) {
  const clock = new ManualClock()
  const expired: string[] = []
  const clocks = new RunningClocks(spec, clock, (cause) =>
    expired.push(`${cause} at ${clock.monotonicMs()}`),
  )
  clocks.start()
  return { clock, clocks, expired }
}

const none = { wallTimeoutMs: null, idleTimeoutMs: null }

describe("the clocks of an execution", () => {
  test("that has no timeouts never expire, and set no timer", () => {
    const { clock, clocks, expired } = started(none)

    clock.advance(1e12)

    expect(expired).toEqual([])
    expect(clock.pending).toBe(0)
    expect(clocks.read()).toEqual({ runningMs: 1e12, pausedMs: 0 })
  })

  test("name the timeout that fires", () => {
    const wall = started({ wallTimeoutMs: 3000, idleTimeoutMs: 5000 })
    const idle = started({ wallTimeoutMs: 5000, idleTimeoutMs: 3000 })

    wall.clock.advance(3000)
    idle.clock.advance(3000)

    expect(wall.expired).toEqual(["wall-timeout at 3000"])
    expect(idle.expired).toEqual(["idle-timeout at 3000"])
  })

  test("let the idle timeout begin anew with each byte, but not the other", () => {
    const { clock, clocks, expired } = started({ wallTimeoutMs: 10_000, idleTimeoutMs: 3000 })

    for (let times = 0; times < 8; times++) {
      clock.advance(1000)
      clocks.active()
    }
    expect(expired).toEqual([])
    clock.advance(3000)

    expect(expired).toEqual(["wall-timeout at 10000", "idle-timeout at 11000"])
  })

  test("all stand still while it is paused", () => {
    const { clock, clocks, expired } = started({ wallTimeoutMs: 3000, idleTimeoutMs: 2000 })
    clock.advance(1000)

    clocks.pause()
    clock.advance(60_000)
    expect(clocks.read()).toEqual({ runningMs: 1000, pausedMs: 60_000 })
    clocks.resume()
    clock.advance(999)
    expect(expired).toEqual([])
    clock.advance(1)

    expect(expired).toEqual(["idle-timeout at 62000"])
    expect(clocks.read()).toEqual({ runningMs: 2000, pausedMs: 60_000 })
  })

  test("let no idleness count while the child waits for its readers", () => {
    const { clock, clocks, expired } = started({ wallTimeoutMs: null, idleTimeoutMs: 1000 })
    clock.advance(500)

    clocks.setBlocked(true)
    clock.advance(60_000)
    clocks.pause()
    clocks.resume()
    clock.advance(60_000)
    expect(expired).toEqual([])
    clocks.setBlocked(false)
    clock.advance(500)

    expect(expired).toEqual(["idle-timeout at 121000"])
  })

  test("that are unblocked while paused wait for the resume", () => {
    const { clock, clocks, expired } = started({ wallTimeoutMs: null, idleTimeoutMs: 1000 })

    clocks.setBlocked(true)
    clocks.pause()
    clocks.setBlocked(false)
    clock.advance(60_000)
    expect(expired).toEqual([])
    clocks.resume()
    clock.advance(1000)

    expect(expired).toEqual(["idle-timeout at 61000"])
  })

  test("go on measuring when the timeouts are disarmed, until they are stopped", () => {
    const { clock, clocks, expired } = started({ wallTimeoutMs: 1000, idleTimeoutMs: 1000 })

    clocks.disarm()
    clock.advance(5000)
    clocks.stop()
    clock.advance(5000)

    expect(expired).toEqual([])
    expect(clocks.read()).toEqual({ runningMs: 5000, pausedMs: 0 })
  })
})
