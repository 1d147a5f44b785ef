import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, rmdirSync } from "node:fs"
import { join } from "node:path"
import {
  type CgroupBase,
  makeCgroup,
  openCgroupBase,
} from "../../../../src/service/os/trees/cgroup-base.ts"
import { CgroupTree, killCgroup } from "../../../../src/service/os/trees/cgroup-tree.ts"
import { newId } from "../../../support/planted.ts"
import { identify, isStillThere } from "../../../support/real-processes.ts"
import { until } from "../../../support/until.ts"

const instance = `test-${process.pid}`
const opened = openCgroupBase(instance)
const noLimits = { memoryBytes: null, cpus: null, pids: null }
const why = opened.ok ? "" : ` (${opened.failure})`

describe.if(opened.ok)(`a cgroup of an execution${why}`, () => {
  let base: CgroupBase
  beforeAll(() => {
    if (!opened.ok) throw new Error(opened.failure)
    base = opened.value
  })
  afterAll(() => rmdirSync(base.path))

  test("has what is started in it, and what that starts below it", async () => {
    const path = makeCgroup(base, newId(), noLimits)
    const tree = new CgroupTree(path)
    mkdirSync(join(path, "below"))
    await using outer = Bun.spawn(["sleep", "1000"], { cgroup: path })
    await using inner = Bun.spawn(["sleep", "1000"], { cgroup: join(path, "below") })

    const members = tree.members().map(({ pid }) => pid)

    expect(new Set(members)).toEqual(new Set([outer.pid, inner.pid]))
    expect(await killCgroup(path, 5000)).toBe(true)
    await Promise.all([outer.exited, inner.exited])
    await until("it is removed", () => !existsSync(path))
  })

  test("is frozen until it is thawed", async () => {
    const path = makeCgroup(base, newId(), noLimits)
    const tree = new CgroupTree(path)
    await using child = Bun.spawn(["sh", "-c", "while :; do :; done"], { cgroup: path })
    const { pid } = identify(child.pid)

    await tree.freeze()
    expect(readFileSync(join(path, "cgroup.events"), "utf8")).toContain("frozen 1")
    tree.thaw()
    await until("it is thawed", () =>
      readFileSync(join(path, "cgroup.events"), "utf8").includes("frozen 0"),
    )

    expect(tree.members()).toMatchObject([{ pid }])
    expect(tree.use().cpuUserMs).toBeGreaterThanOrEqual(0)
    expect(tree.signal(9)).toBe(1)
    await child.exited
    tree.remove()
    await until("it is removed", () => !existsSync(path))
  })

  test("that is gone is empty, and takes every order", async () => {
    const path = makeCgroup(base, newId(), noLimits)
    const tree = new CgroupTree(path)
    tree.remove()

    expect(tree.members()).toEqual([])
    expect(tree.signal(15)).toBe(0)
    expect(tree.signal(9)).toBe(0)
    await tree.freeze()
    tree.thaw()
    tree.remove()

    expect(tree.use()).toEqual({ cpuUserMs: null, cpuSystemMs: null, memoryPeakBytes: null })
  })

  test("dies whole though it is frozen", async () => {
    const path = makeCgroup(base, newId(), noLimits)
    const tree = new CgroupTree(path)
    await using child = Bun.spawn(["sh", "-c", "sleep 1000 & wait"], { cgroup: path })
    const identity = identify(child.pid)
    await until("there are two", () => tree.members().length === 2)
    await tree.freeze()

    expect(tree.signal(9)).toBe(2)

    await child.exited
    await until("nobody is left", () => tree.members().length === 0)
    expect(isStillThere(identity)).toBe(false)
    tree.remove()
    await until("it is removed", () => !existsSync(path))
  })
})
