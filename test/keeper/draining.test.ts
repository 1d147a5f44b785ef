import { describe, expect, test } from "bun:test"
import { lingerUntilEmpty } from "../../src/keeper/draining.ts"
import { ManualClock } from "../support/manual-clock.ts"
import { type ScriptedProcess, ScriptedTree } from "../support/scripted-tree.ts"

function lingering(processes: ScriptedProcess[]) {
  const clock = new ManualClock()
  const tree = new ScriptedTree(clock, processes)
  const hurry = new AbortController()
  let isOver = false
  const isEmpty = lingerUntilEmpty(tree, clock, {
    lingerMs: 2000,
    isOver: () => isOver,
    hurry: hurry.signal,
  })
  return { clock, tree, hurry, isEmpty, takeOver: () => (isOver = true) }
}

describe("a tree that has lost its leader", () => {
  test("may empty itself within the linger", async () => {
    const { clock, tree, isEmpty } = lingering([{ pid: 1, endsAfter: { SIGTERM: 1500 } }])
    tree.signal(15)

    await clock.pass(1600)

    expect(await isEmpty).toBe(true)
  })

  test("is given up on after it", async () => {
    const { clock, isEmpty } = lingering([{ pid: 1 }])

    await clock.pass(2100)

    expect(await isEmpty).toBe(false)
  })

  test("is given up on at once by somebody in a hurry", async () => {
    const { clock, hurry, isEmpty } = lingering([{ pid: 1 }])
    await clock.pass(100)

    hurry.abort()

    expect(await isEmpty).toBe(false)
    expect(clock.pending).toBe(0)
  })

  test("is left to whoever stops it meanwhile", async () => {
    const { clock, isEmpty, takeOver } = lingering([{ pid: 1 }])
    await clock.pass(100)

    takeOver()
    await clock.pass(100)

    expect(await isEmpty).toBe(false)
  })
})
