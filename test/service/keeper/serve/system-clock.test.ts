import { describe, expect, test } from "bun:test"
import { systemClock } from "../../../../src/service/keeper/serve/system-clock.ts"
import { until } from "../../../support/until.ts"

describe("the system's clock", () => {
  test("calls back once, not before its time", async () => {
    const startedMs = systemClock.monotonicMs()
    const calls: number[] = []

    systemClock.after(30, () => calls.push(systemClock.monotonicMs() - startedMs))
    systemClock.after(10, () => undefined)
    await until("it has called", () => calls.length > 0)

    expect(calls).toHaveLength(1)
    expect(calls[0]).toBeGreaterThanOrEqual(29)
  })

  test("does not take a month for no time at all, as a 32-bit timer would", async () => {
    let isCalled = false
    using _month = systemClock.after(2 ** 31 + 1000, () => {
      isCalled = true
    })
    const passed = Promise.withResolvers<void>()
    using _moment = systemClock.after(50, passed.resolve)

    await passed.promise

    expect(isCalled).toBe(false)
  })

  test("keeps quiet once it is told to", async () => {
    let isCalled = false
    const timer = systemClock.after(10, () => {
      isCalled = true
    })
    const passed = Promise.withResolvers<void>()

    timer[Symbol.dispose]()
    using _later = systemClock.after(30, passed.resolve)
    await passed.promise

    expect(isCalled).toBe(false)
  })
})
