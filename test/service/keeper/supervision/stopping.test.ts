import { describe, expect, test } from "bun:test"
import { stopTree } from "../../../../src/service/keeper/supervision/stopping.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { type ScriptedProcess, ScriptedTree } from "../../../support/scripted-tree.ts"

function stopping(processes: ScriptedProcess[]) {
  const clock = new ManualClock()
  const tree = new ScriptedTree(clock, processes)
  const hurry = new AbortController()
  const order = { graceMs: 5000, killLimitMs: 3000, hurry: hurry.signal }
  const report = stopTree(tree, order, clock)
  return { clock, tree, hurry, report }
}

/** The same tree, of which the first calls of every kind fail with these errors. */
function failingFirst(tree: ScriptedTree, codes: readonly string[]): ScriptedTree {
  const left = new Map<unknown, string[]>()
  return new Proxy(tree, {
    get(target, name) {
      const works: unknown = Reflect.get(target, name)
      if (typeof works !== "function") return works
      const failures = left.get(name) ?? [...codes]
      left.set(name, failures)
      return (...args: unknown[]) => {
        const code = failures.shift()
        if (code !== undefined) throw Object.assign(new Error(code), { code })
        return Reflect.apply(works, target, args)
      }
    },
  })
}

describe("stopping a tree", () => {
  test("that is empty already stops nothing", async () => {
    const { report } = stopping([])

    expect(await report).toEqual({ stopped: [], survivors: [] })
  })

  test("asks politely, wakes whoever sleeps, and kills nobody who goes", async () => {
    const { clock, tree, report } = stopping([
      { pid: 1, endsAfter: { SIGTERM: 0 } },
      { pid: 2, endsAfter: { SIGTERM: 1000 } },
    ])

    await clock.pass(1100)

    expect(tree.done).toEqual(["SIGTERM", "thaw", "SIGCONT"])
    const { stopped, survivors } = await report
    expect(survivors).toEqual([])
    expect(stopped.map(({ pid, signal }) => ({ pid, signal }))).toEqual([
      { pid: 1, signal: "SIGTERM" },
      { pid: 2, signal: "SIGTERM" },
    ])
    expect(stopped[0]?.ms).toBe(0)
    expect(stopped[1]?.ms).toBeGreaterThanOrEqual(1000)
    expect(stopped[1]?.ms).toBeLessThan(1060)
  })

  test("waits where something is short, and goes on: nobody is lost by that", async () => {
    const clock = new ManualClock()
    const tree = new ScriptedTree(clock, [{ pid: 1, endsAfter: { SIGKILL: 1 } }])
    const failing = failingFirst(tree, ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN"])
    const order = { graceMs: 5000, killLimitMs: 3000, hurry: AbortSignal.abort() }

    const report = stopTree(failing, order, clock)
    await clock.pass(10_000)

    expect(await report).toMatchObject({ stopped: [{ pid: 1, signal: "SIGKILL" }], survivors: [] })
  })

  test("kills who is left when the grace is over, and says who that was", async () => {
    const { clock, tree, report } = stopping([
      { pid: 1, endsAfter: { SIGTERM: 100 } },
      { pid: 2, endsAfter: { SIGKILL: 1 } },
    ])

    await clock.pass(4900)
    expect(tree.done).not.toContain("SIGKILL")
    await clock.pass(200)

    expect(tree.done.filter((done) => done === "SIGKILL")).toHaveLength(1)
    const { stopped, survivors } = await report
    expect(survivors).toEqual([])
    expect(stopped.map(({ pid, signal }) => ({ pid, signal }))).toEqual([
      { pid: 1, signal: "SIGTERM" },
      { pid: 2, signal: "SIGKILL" },
    ])
  })

  test("kills at every look whatever was born since the last one", async () => {
    const { clock, report } = stopping([
      { pid: 1, endsAfter: { SIGKILL: 10 } },
      { pid: 2, bornAtMs: 5005, endsAfter: { SIGKILL: 10 } },
    ])

    await clock.pass(5200)

    const { stopped, survivors } = await report
    expect(survivors).toEqual([])
    expect(stopped.map(({ pid }) => pid)).toEqual([1, 2])
  })

  test("names as survivors whom even that does not end", async () => {
    const { clock, report } = stopping([{ pid: 1 }, { pid: 2, endsAfter: { SIGKILL: 0 } }])

    await clock.pass(8100)

    const { stopped, survivors } = await report
    expect(survivors).toEqual([{ pid: 1, command: "process 1" }])
    expect(stopped.map(({ pid }) => pid)).toEqual([2])
  })

  test("waits no longer for the grace when somebody is in a hurry", async () => {
    const { clock, tree, hurry, report } = stopping([{ pid: 1, endsAfter: { SIGKILL: 0 } }])
    await clock.pass(1000)
    expect(tree.done).not.toContain("SIGKILL")

    hurry.abort()
    await clock.pass(5)

    expect(await report).toMatchObject({ stopped: [{ pid: 1, signal: "SIGKILL" }] })
    expect(clock.pending).toBe(0)
  })

  test("has no grace at all when the hurry came first", async () => {
    const clock = new ManualClock()
    const tree = new ScriptedTree(clock, [{ pid: 1, endsAfter: { SIGKILL: 0 } }])
    const order = { graceMs: 5000, killLimitMs: 3000, hurry: AbortSignal.abort() }

    const report = stopTree(tree, order, clock)
    await clock.pass(5)

    expect(await report).toMatchObject({ stopped: [{ pid: 1, signal: "SIGKILL" }] })
  })
})
