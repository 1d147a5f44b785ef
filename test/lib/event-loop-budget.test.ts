import { describe, expect, test } from "bun:test"
import { EventLoopBudget } from "../../src/lib/event-loop-budget.ts"

/** An event loop that turns when it is told to. */
function stage(perTurn: number) {
  let due: (() => void) | null = null
  const log: string[] = []
  const budget = new EventLoopBudget(perTurn, (run) => {
    due = run
  })
  const turn = () => {
    const run = due
    due = null
    run?.()
    return log.splice(0)
  }
  const work = (name: string, cost: number) => () => {
    log.push(name)
    return cost
  }
  return { budget, turn, work, done: () => log.splice(0), isTurnDue: () => due !== null }
}

describe("a turn of the loop", () => {
  test("does at once what it has an allowance for, and the rest in later turns, in order", () => {
    const { budget, turn, work, done } = stage(10)

    for (const name of ["a", "b", "c", "d", "e"]) budget.run(work(name, 5))

    expect(done()).toEqual(["a", "b"])
    expect(turn()).toEqual(["c", "d"])
    expect(turn()).toEqual(["e"])
  })

  test("does one that takes more than the allowance, and no other", () => {
    const { budget, turn, work, done } = stage(10)

    budget.run(work("large", 100))
    budget.run(work("small", 1))

    expect(done()).toEqual(["large"])
    expect(turn()).toEqual(["small"])
  })

  test("lets who comes back wait behind those who waited", () => {
    const { budget, turn, work } = stage(10)
    const again = (name: string) => () => {
      budget.runNextTurn(again(name))
      return work(name, 10)()
    }

    for (const name of ["a", "b", "c"]) budget.runNextTurn(again(name))

    const order = Array.from({ length: 6 }, turn)
    expect(order.flat()).toEqual(["a", "b", "c", "a", "b", "c"])
  })

  test("is over for who is at work and asks for more", () => {
    const { budget, turn, work, done } = stage(10)
    const endless = () => {
      budget.run(endless)
      return work("a", 10)()
    }

    budget.run(endless)

    expect(done()).toEqual(["a"])
    expect(turn()).toEqual(["a"])
  })

  test("does nothing of what is for later, even if nobody else waits", () => {
    const { budget, turn, work, done } = stage(10)

    budget.runNextTurn(work("a", 1))

    expect(done()).toEqual([])
    expect(turn()).toEqual(["a"])
  })

  test("that one work breaks is followed by one for the others", () => {
    const { budget, turn, work } = stage(10)
    budget.runNextTurn(() => {
      throw new Error("broken")
    })
    budget.runNextTurn(work("a", 1))

    expect(turn).toThrow("broken")

    expect(turn()).toEqual(["a"])
  })

  test("is asked for only while somebody waits", () => {
    const { budget, turn, work, isTurnDue } = stage(10)
    budget.runNextTurn(work("a", 1))
    turn()
    expect(isTurnDue()).toBe(false)

    budget.run(work("b", 10))
    turn() // what was used is given back
    expect(isTurnDue()).toBe(false)

    budget.run(work("c", 1))
    expect(turn()).toEqual(["c"])
  })
})
