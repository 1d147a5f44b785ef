import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import type { ProcessIdentity } from "../../src/execution/record.ts"
import { heldByNothing } from "../../src/execution/spec.ts"
import { getRlimit, RLIMIT_DATA, RLIMIT_NPROC, setRlimit } from "../../src/process/libc.ts"
import { readStat } from "../../src/process/proc.ts"
import { holdAgain, holdByRlimits, rlimitHolders } from "../../src/process/rlimits.ts"

const mebibyte = 1024 ** 2
const limits = { memoryBytes: 512 * mebibyte, cpus: null, pids: 40 }
const byRlimit = { ...heldByNothing, memoryBytes: "rlimit", pids: "rlimit" } as const

/** A child that waits to be told to end. */
function child(): Disposable & { pid: number; startTicks: number } {
  const process = Bun.spawn(["cat"], { stdin: "pipe", stdout: "ignore" })
  const { pid } = process
  const startTicks = readStat(pid)?.startTicks ?? 0
  return { pid, startTicks, [Symbol.dispose]: () => process.kill("SIGKILL") }
}

function tree(membersNow: () => ProcessIdentity[]) {
  return { membersNow, standStill: () => ({ [Symbol.dispose]() {} }) }
}

describe("what rlimits can hold", () => {
  test("is memory for everyone, processes for who is not root, and never processor time", () => {
    expect(rlimitHolders(0)).toEqual({ memoryBytes: "rlimit", cpus: null, pids: null })
    expect(rlimitHolders(1000)).toEqual({ memoryBytes: "rlimit", cpus: null, pids: "rlimit" })
  })
})

describe("a process held by rlimits", () => {
  test("has them as the kernel tells, soft and hard", () => {
    using leader = child()

    holdByRlimits(
      leader,
      tree(() => [leader]),
      limits,
      byRlimit,
    )

    const told = readFileSync(`/proc/${leader.pid}/limits`, "latin1")
    expect(told).toMatch(/Max data size\s+536870912\s+536870912/)
    expect(told).toMatch(/Max processes\s+40\s+40/)
  })

  test("keeps what is lower already, and what something else holds", () => {
    using leader = child()
    const before = getRlimit(leader.pid, RLIMIT_NPROC)
    setRlimit(leader.pid, RLIMIT_DATA, { soft: 1000n, hard: 2000n })

    holdByRlimits(
      leader,
      tree(() => [leader]),
      limits,
      { ...byRlimit, pids: "cgroup" },
    )

    expect(getRlimit(leader.pid, RLIMIT_DATA)).toEqual({ soft: 1000n, hard: 2000n })
    expect(getRlimit(leader.pid, RLIMIT_NPROC)).toEqual(before)
  })

  test("shares them with those it had started before, however late they are seen", () => {
    using leader = child()
    using early = child()
    using late = child()
    const looks = [[leader], [leader, early], [leader, early, late], [leader, early, late]]
    let look = 0
    // What was seen without its limits may have started others: one more look is due.
    using unlimited = child()
    looks[0]?.push(unlimited)

    holdByRlimits(
      leader,
      tree(() => looks[look++] ?? []),
      limits,
      byRlimit,
    )

    expect(look).toBe(4)
    for (const { pid } of [early, late]) {
      expect(getRlimit(pid, RLIMIT_DATA)?.hard).toBe(BigInt(limits.memoryBytes))
    }
  })

  test("that is gone is no failure", () => {
    const gone = { pid: 2 ** 22 + 1, startTicks: 1 }

    expect(() =>
      holdByRlimits(
        gone,
        tree(() => [gone]),
        limits,
        byRlimit,
      ),
    ).not.toThrow()
  })
})

describe("a look at processes held by rlimits", () => {
  test("limits whom it finds without, and answers what they were without", () => {
    using held = child()
    using late = child()
    holdByRlimits(
      held,
      tree(() => [held]),
      limits,
      byRlimit,
    )
    expect(holdAgain(() => [held], limits, byRlimit)).toEqual(new Set())

    const found = holdAgain(() => [held, late], limits, byRlimit)

    expect(found).toEqual(new Set(["memoryBytes", "pids"] as const))
    expect(getRlimit(late.pid, RLIMIT_DATA)?.hard).toBe(BigInt(limits.memoryBytes))
    expect(holdAgain(() => [held, late], limits, byRlimit)).toEqual(new Set())
  })

  test("leaves a process alone that has only the number of one that was seen", () => {
    using other = child()
    const before = getRlimit(other.pid, RLIMIT_DATA)

    holdAgain(() => [{ pid: other.pid, startTicks: 1 }], limits, byRlimit)

    expect(getRlimit(other.pid, RLIMIT_DATA)).toEqual(before)
  })

  test("is not taken where something else holds the limits", () => {
    const look = () => {
      throw new Error("nobody should look")
    }

    expect(holdAgain(look, limits, heldByNothing)).toEqual(new Set())
  })
})
