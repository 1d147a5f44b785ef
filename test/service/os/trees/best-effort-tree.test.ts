import { describe, expect, test } from "bun:test"
import { readStat } from "../../../../src/service/os/proc.ts"
import { BestEffortTree } from "../../../../src/service/os/trees/best-effort-tree.ts"
import { newId, Planted } from "../../../support/planted.ts"
import { descendantsOf, ticksOf } from "../../../support/real-processes.ts"
import { until } from "../../../support/until.ts"

const busy = "while :; do :; done"

function treeOf(script: string, env: Record<string, string> = {}) {
  const id = newId()
  const planted = new Planted()
  const leader = planted.grow(id, script, env)
  return { leader, tree: new BestEffortTree(id, planted.forest) }
}

/** A program that makes system calls by their numbers, which differ by architecture. */
function program(source: string) {
  const numbers =
    process.arch === "arm64"
      ? { clone: 220, getpid: 172, kill: 129, exit: 93 }
      : { clone: 56, getpid: 39, kill: 62, exit: 60 }
  const prelude = `
    const { dlopen, FFIType } = require("bun:ffi")
    const args = Array(6).fill(FFIType.i64)
    const { symbols } = dlopen("libc.so.6", { syscall: { args, returns: FFIType.i64 } })
    const call = (number, ...rest) =>
      Number(symbols.syscall(...[number, ...rest, 0, 0, 0, 0, 0].slice(0, 6).map(BigInt)))
    const system = ${JSON.stringify(numbers)}
  `
  return { PROGRAM: process.execPath, SOURCE: prelude + source }
}

describe("freezing a tree without a cgroup", () => {
  test("stops everybody, and thawing wakes only whom it stopped", async () => {
    const script = `sh -c 'echo "idle $$"; kill -STOP $$' & echo "busy $$"; ${busy}`
    const { leader, tree } = treeOf(script)
    await using _leader = leader
    const [idle, running] = [await leader.told("idle"), await leader.told("busy")]
    await until("it has suspended itself", () => readStat(idle.pid)?.state === "T")

    await tree.freeze()
    expect(readStat(running.pid)?.state).toBe("T")
    tree.thaw()

    const before = ticksOf([running])
    await until("it runs", () => (ticksOf([running])[0] ?? 0) > (before[0] ?? 0))
    expect(readStat(idle.pid)?.state).toBe("T")
  })

  test("is not undone by a SIGCONT, which is heeded at the thaw", async () => {
    const idling = 'echo "idle $$"; kill -STOP $$; echo "awake $$"; exec sleep 1000'
    const { leader, tree } = treeOf(`sh -c '${idling}' & ${busy}`)
    await using _leader = leader
    const idle = await leader.told("idle")
    await until("it has suspended itself", () => readStat(idle.pid)?.state === "T")
    await tree.freeze()

    expect(tree.signal(18)).toBe(2)
    expect(readStat(leader.pid)?.state).toBe("T")
    expect(readStat(idle.pid)?.state).toBe("T")
    tree.thaw()

    expect(await leader.told("awake")).toEqual(idle)
  })

  test("does not wait for one whose child it stopped between vfork and exec", async () => {
    // CLONE_VFORK | CLONE_VM | SIGCHLD: it sleeps in the kernel until its child executes something.
    const vfork = program(`
      setTimeout(() => {
        const child = call(system.clone, 0x4100 | 17)
        if (child === 0) call(system.kill, call(system.getpid), 19)
      }, 10)
    `)
    const { leader, tree } = treeOf('exec "$PROGRAM" -e "$SOURCE"', vfork)
    await using _leader = leader
    await until("it sleeps in the kernel", () => readStat(leader.pid)?.state === "D")
    const [child] = descendantsOf(leader.pid)
    await until("its child has stopped", () => readStat(child?.pid ?? 0)?.state === "T")

    const startedMs = performance.now()
    await tree.freeze()

    expect(performance.now() - startedMs).toBeLessThan(20_000)
    tree.thaw()
  })

  test("does not wait for the state of one whose first thread has ended", async () => {
    const threads = program(`
      const source = "setInterval(() => undefined, 50); postMessage('ready')"
      const worker = new Worker(URL.createObjectURL(new Blob([source])))
      worker.onmessage = () => call(system.exit, 0)
    `)
    const { leader, tree } = treeOf('exec "$PROGRAM" -e "$SOURCE"', threads)
    await using _leader = leader
    const { identity } = leader
    await until("its first thread has ended", () => readStat(leader.pid)?.state === "Z")

    expect(tree.members()).toMatchObject([identity])
    await tree.freeze()
    tree.signal(9)

    // Its first thread is a zombie all the while; the others take a moment.
    await until("all of it is gone", () => tree.members().length === 0)
  })
})

describe("signalling a tree without a cgroup", () => {
  test("reaches every member, and says how many", async () => {
    const script = `setsid sh -c 'trap "" TERM; echo "far $$"; ${busy}' & sleep 1000 & wait`
    const { leader, tree } = treeOf(script)
    await using _leader = leader
    const far = await leader.told("far")
    await until("there are three", () => tree.members().length === 3)

    expect(tree.signal(15)).toBe(3)
    await until("one is left", () => tree.members().length === 1)
    expect(tree.members()).toMatchObject([far])
    expect(tree.describe(far).command).toContain("trap")

    expect(tree.signal(9)).toBe(1)
    await until("nobody is left", () => tree.members().length === 0)
    expect(tree.signal(9)).toBe(0)
  })
})
