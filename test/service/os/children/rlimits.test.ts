import { describe, expect, test } from "bun:test"
import { heldByNothing } from "../../../../src/execution/spec.ts"
import { rlimitHolders, withRlimits } from "../../../../src/service/os/children/rlimits.ts"

const mebibyte = 1024 ** 2
const limits = { memoryBytes: 512 * mebibyte, cpus: null, pids: 40 }
const byRlimit = { ...heldByNothing, memoryBytes: "rlimit", pids: "rlimit" } as const
const asked = { argv: ["/bin/grep", "^Max", "/proc/self/limits"], argv0: "grep" }

/** What the kernel says of a program that was started so. */
function limitsOf(started: ReturnType<typeof withRlimits>): string {
  return Bun.spawnSync([...started.argv]).stdout.toString()
}

describe("what rlimits can hold", () => {
  test("is memory for everyone, processes for who is not root, and never processor time", () => {
    expect(rlimitHolders(0)).toEqual({ memoryBytes: "rlimit", cpus: null, pids: null })
    expect(rlimitHolders(1000)).toEqual({ memoryBytes: "rlimit", cpus: null, pids: "rlimit" })
  })
})

describe("a program held by rlimits", () => {
  test("has them from its first instruction on, soft and hard", () => {
    const told = limitsOf(withRlimits({ ...asked, limits, limitsHeldBy: byRlimit }))

    expect(told).toMatch(/Max data size\s+536870912\s+536870912/)
    expect(told).toMatch(/Max processes\s+40\s+40/)
  })

  test("is started as it is where nothing is asked for, or something else holds it", () => {
    const nothing = { memoryBytes: null, cpus: null, pids: null }
    const byCgroup = { ...heldByNothing, memoryBytes: "cgroup", pids: "cgroup" } as const

    expect(withRlimits({ ...asked, limits: nothing, limitsHeldBy: heldByNothing })).toEqual(asked)
    expect(withRlimits({ ...asked, limits, limitsHeldBy: byCgroup })).toEqual(asked)
  })

  test("gets its arguments as they are, also those that look like options", () => {
    const argv = ["/bin/echo", "--data=1", "--", "", "a b"]
    const started = withRlimits({ argv, argv0: null, limits, limitsHeldBy: byRlimit })

    expect(limitsOf(started)).toBe("--data=1 --  a b\n")
  })
})
