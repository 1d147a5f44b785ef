import { describe, expect, test } from "bun:test"
import { heldByNothing } from "../../../../src/execution/spec.ts"
import { ExecuteParams } from "../../../../src/protocol/execute.ts"
import {
  plannedLimits,
  tooMuchAsked,
} from "../../../../src/service/keeper/starting/planned-limits.ts"

const unlimited = {
  limits: { memoryBytes: null, cpus: null, pids: null },
  holders: heldByNothing,
  maxWallTimeoutMs: Infinity,
  maxOutputBytes: Infinity,
  retainBytesPerPrincipal: Infinity,
}
const settings = {
  ...unlimited,
  limits: { memoryBytes: 1000, cpus: 1, pids: 10 },
  maxWallTimeoutMs: 60_000,
  maxOutputBytes: 5000,
  retainBytesPerPrincipal: 2048,
}
const asking = (more: object) => ExecuteParams.parse({ argv: ["true"], ...more })

describe("who asks for more than there is", () => {
  const forAll = [
    { name: "timeout", most: { timeout: 60 }, more: { timeout: 60.001 } },
    {
      name: "limits.output",
      most: { limits: { output: 5000 } },
      more: { limits: { output: 5001 } },
    },
  ]
  const forBound = [
    {
      name: "limits.memory",
      most: { limits: { memory: 1000 } },
      more: { limits: { memory: 1001 } },
    },
    { name: "limits.cpu", most: { limits: { cpu: 1 } }, more: { limits: { cpu: 1.1 } } },
    { name: "limits.pids", most: { limits: { pids: 10 } }, more: { limits: { pids: 11 } } },
    { name: "budget.bytes", most: { budget: { bytes: 2048 } }, more: { budget: { bytes: 2049 } } },
  ]

  test.each(forAll)("$name: is refused, whoever it is", ({ name, most, more }) => {
    for (const exempt of [true, false]) {
      const refused = { reason: "INVALID_PARAMS", details: { limit: name } }
      expect(tooMuchAsked(asking(more), settings, exempt)).toMatchObject(refused)
      expect(tooMuchAsked(asking(most), settings, exempt)).toBeNull()
      expect(tooMuchAsked(asking(more), unlimited, exempt)).toBeNull()
    }
  })

  test.each(forBound)("$name: is refused unless exempt", ({ name, most, more }) => {
    const refused = { reason: "INVALID_PARAMS", details: { limit: name } }
    expect(tooMuchAsked(asking(more), settings, false)).toMatchObject(refused)
    expect(tooMuchAsked(asking(most), settings, false)).toBeNull()
    expect(tooMuchAsked(asking(more), settings, true)).toBeNull()
  })
})

describe("a limit", () => {
  test("of output is the smaller of what was asked and what there is", () => {
    const plannedOf = (request: object, given: typeof settings | typeof unlimited) => {
      const planned = plannedLimits(asking(request), { ...given, limits: unlimited.limits })
      return planned.ok ? planned.value.outputLimitBytes : planned.failure
    }

    expect(plannedOf({}, unlimited)).toBeNull()
    expect(plannedOf({}, settings)).toBe(5000)
    expect(plannedOf({ limits: { output: 7 } }, unlimited)).toBe(7)
    expect(plannedOf({ limits: { output: 7 } }, settings)).toBe(7)
  })

  test("that was not asked for is held by nothing, whatever could hold it", () => {
    const holders = { memoryBytes: "rlimit", cpus: null, pids: "cgroup" } as const
    const planned = plannedLimits(asking({ limits: { memory: 9 } }), { ...unlimited, holders })

    expect(planned).toMatchObject({
      value: { limitsHeldBy: { memoryBytes: "rlimit", cpus: null, pids: null } },
    })
  })

  test("that nothing here can hold is refused by its name", () => {
    for (const limit of ["memory", "cpu", "pids"]) {
      const planned = plannedLimits(asking({ limits: { [limit]: 1 } }), unlimited)
      expect(planned).toMatchObject({ failure: { reason: "INVALID_PARAMS", details: { limit } } })
    }
  })
})
