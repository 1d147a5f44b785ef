import { describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { endLeftovers } from "../../../../src/service/os/trees/sweep.ts"
import { readTreeMemory, writeTreeMemory } from "../../../../src/service/os/trees/tree-memory.ts"
import { newId } from "../../../support/planted.ts"
import { RealChild } from "../../../support/real-child.ts"
import { isStillThere } from "../../../support/real-processes.ts"

function stateDirectory(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "cc-executor-sweep-"))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

const nobody = { cgroupBase: null, gateway: null, seen: {} }

describe("what a dead keeper left", () => {
  test("is ended: its leader's session, what is marked, and whom the keeper had seen", async () => {
    using state = stateDirectory()
    const id = newId()
    const far = `(setsid sh -c 'echo "far $$"; exec sleep 1000' &)`
    await using leader = new RealChild(`sleep 1000 & echo "child $!"; ${far}; wait`, {
      executionId: id,
    })
    await using seen = new RealChild("exec env -i sleep 1000")
    const all = [leader.identity, await leader.told("child"), await leader.told("far")]
    writeTreeMemory(state.path, { ...nobody, seen: { [id]: [seen.identity] } })
    const identity = seen.identity

    const sweeps = await endLeftovers(state.path, null, [{ id, leader: leader.identity }])

    expect([...all, identity].filter(isStillThere)).toEqual([])
    expect(sweeps.get(id)).toMatchObject({ survivors: [] })
    expect(sweeps.get(id)?.ended).toBeGreaterThanOrEqual(4)
  })

  test("is its gateway too", async () => {
    using state = stateDirectory()
    await using gateway = new RealChild("exec sleep 1000")
    const { identity } = gateway
    writeTreeMemory(state.path, { ...nobody, gateway: identity })

    await endLeftovers(state.path, null, [])

    await gateway.exited
    expect(isStillThere(identity)).toBe(false)
  })

  test("is nobody else: not who has a pid or a session of its number by now", async () => {
    using state = stateDirectory()
    await using other = new RealChild("sleep 1000 & wait", { executionId: newId() })
    const id = newId()
    const { pid, startTicks } = other.identity
    const [earlier, later] = [
      { pid, startTicks: startTicks - 1 },
      { pid, startTicks: startTicks + 100 },
    ]
    writeTreeMemory(state.path, { ...nobody, gateway: earlier, seen: { [id]: [earlier] } })

    const sweeps = await endLeftovers(state.path, null, [{ id, leader: later }])

    expect(sweeps.get(id)).toEqual({ ended: 0, survivors: [] })
    expect(isStillThere(other.identity)).toBe(true)
  })

  test("is no directory that is not this service's cgroup", async () => {
    using state = stateDirectory()
    const others = join(state.path, "others")
    mkdirSync(join(others, newId(), "empty"), { recursive: true })
    writeTreeMemory(state.path, { ...nobody, cgroupBase: others })

    await endLeftovers(state.path, null, [])

    expect(readdirSync(others, { recursive: true })).toHaveLength(2)
  })

  test("of another boot means nobody of this one", async () => {
    using state = stateDirectory()
    await using other = new RealChild("exec sleep 1000")
    const id = newId()
    writeTreeMemory(state.path, { ...nobody, gateway: other.identity })
    const file = join(state.path, "trees.json")
    const memory = JSON.parse(readFileSync(file, "utf8"))
    writeFileSync(file, JSON.stringify({ ...memory, world: "another boot" }))

    expect(readTreeMemory(state.path)).toBeNull()
    await endLeftovers(state.path, null, [{ id, leader: other.identity }])

    expect(isStillThere(other.identity)).toBe(true)
  })
})

describe("the memory of trees", () => {
  test("is what was written last, and nothing when it is not there or cut short", () => {
    using state = stateDirectory()
    expect(readTreeMemory(state.path)).toBeNull()

    writeTreeMemory(state.path, nobody)
    writeTreeMemory(state.path, { ...nobody, cgroupBase: "/sys/fs/cgroup/x" })
    expect(readTreeMemory(state.path)).toMatchObject({ cgroupBase: "/sys/fs/cgroup/x" })
    writeFileSync(join(state.path, "trees.json"), '{"world": "cut')

    expect(readTreeMemory(state.path)).toBeNull()
  })
})
