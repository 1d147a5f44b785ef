import { describe, expect, test } from "bun:test"
import { ok } from "../../../../src/lib/result.ts"
import { ReadScheduler } from "../../../../src/service/gateway/operations/read-scheduler.ts"
import { bearer } from "../../../support/callers.ts"

const alice = bearer("alice", "read")
const bob = bearer("bob", "read")

describe("reads of one principal", () => {
  test("come one after another, in their order, and fail alone", async () => {
    const reads = new ReadScheduler()
    const order: string[] = []
    let underWay = 0
    const read = (name: string) => async () => {
      underWay += 1
      expect(underWay).toBe(1)
      await Promise.resolve()
      underWay -= 1
      order.push(name)
      if (name === "b") throw new Error("broken")
      return ok(name)
    }

    const answers = await Promise.allSettled(
      ["a", "b", "c"].map((name) => reads.run(alice, read(name))),
    )

    expect(order).toEqual(["a", "b", "c"])
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
  })

  test("do not wait for another's", async () => {
    const reads = new ReadScheduler()
    const { promise, resolve } = Promise.withResolvers<void>()
    const slow = reads.run(alice, async () => {
      await promise
      return ok("slow")
    })

    expect(await reads.run(bob, async () => ok("at once"))).toEqual(ok("at once"))
    resolve()
    expect(await slow).toEqual(ok("slow"))
  })

  test("past 256 that wait are refused, and those of who is gone are not done", async () => {
    const reads = new ReadScheduler()
    const { promise, resolve } = Promise.withResolvers<void>()
    let done = 0
    const read = async () => {
      await promise
      done += 1
      return ok(null)
    }
    const gone = { ...alice, isGone: () => true }
    const waiting = Array.from({ length: 256 }, (_, nth) =>
      reads.run(nth % 2 === 0 ? alice : gone, read),
    )

    expect(await reads.run(alice, read)).toMatchObject({ failure: { reason: "RATE_LIMITED" } })
    resolve()
    await Promise.all(waiting)
    expect(done).toBe(128)
    expect((await reads.run(alice, read)).ok).toBe(true)
  })
})
