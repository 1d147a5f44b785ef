import { describe, expect, test } from "bun:test"
import { Lease } from "../../../../src/service/keeper/supervision/steering.ts"
import { ManualClock } from "../../../support/manual-clock.ts"

function leased() {
  const clock = new ManualClock()
  const ranOut: number[] = []
  const lease = new Lease(clock, 1000, () => ranOut.push(clock.monotonicMs()))
  return { clock, lease, ranOut }
}

describe("a lease", () => {
  test("runs out when nobody has held it for its time", () => {
    const { clock, lease, ranOut } = leased()
    lease.begin()

    clock.advance(999)
    expect(ranOut).toEqual([])
    clock.advance(1)

    expect(ranOut).toEqual([1000])
  })

  test("is kept by a holder, and runs again when the last one is gone", () => {
    const { clock, lease, ranOut } = leased()
    lease.begin()
    clock.advance(900)

    lease.setHolders(2)
    clock.advance(10_000)
    lease.setHolders(1)
    clock.advance(10_000)
    lease.setHolders(0)
    clock.advance(500)
    lease.setHolders(0)
    clock.advance(499)

    expect(ranOut).toEqual([])
    clock.advance(1)
    expect(ranOut).toEqual([21_900])
  })

  test("does not run before it begins, and remembers who holds it by then", () => {
    const { clock, lease, ranOut } = leased()

    clock.advance(10_000)
    lease.setHolders(1)
    lease.begin()
    clock.advance(10_000)

    expect(ranOut).toEqual([])
    expect(clock.pending).toBe(0)
  })

  test("says nothing after it is disposed", () => {
    const { clock, lease, ranOut } = leased()
    lease.begin()

    lease[Symbol.dispose]()
    clock.advance(10_000)

    expect(ranOut).toEqual([])
  })
})
