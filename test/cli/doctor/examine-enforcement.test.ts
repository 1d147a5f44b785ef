import { describe, expect, test } from "bun:test"
import {
  type Enforcement,
  examineEnforcement,
} from "../../../src/cli/doctor/examine-enforcement.ts"

const held: Enforcement = {
  version: "1.2.3",
  containment: "cgroup",
  containment_reason: null,
  limits_held_by: { memory: "cgroup", cpu: "cgroup", pids: "cgroup" },
  open_files: { limit: 65536, maximum: null, needed: 488 },
  processes: { limit: null, maximum: null },
}

describe("a service whose cgroup was delegated", () => {
  test("holds everything, whatever this machine offers to others", () => {
    expect(examineEnforcement("it", held)).toEqual([
      { level: "ok", name: "containment", text: "cgroup (of it)" },
      {
        level: "ok",
        name: "limits",
        text: "memory: by cgroup; cpu: by cgroup; pids: by cgroup; output: by the service (of it)",
      },
      { level: "ok", name: "open files", text: "65536 (maximum unlimited) (of it)" },
      { level: "ok", name: "processes", text: "unlimited (maximum unlimited) (of it)" },
    ])
  })
})

describe("a service without cgroups", () => {
  test("says why, what holds which limit, and of what there is too little", () => {
    const found = examineEnforcement("it", {
      ...held,
      containment: "best-effort",
      containment_reason: "cgroup v2 is not mounted",
      limits_held_by: { memory: "rlimit", cpu: null, pids: "rlimit" },
      open_files: { limit: 256, maximum: 512, needed: 488 },
      processes: { limit: 100, maximum: 100 },
    })

    expect(found.map(({ level }) => level)).toEqual(["warn", "warn", "warn", "warn"])
    expect(found.map(({ text }) => text)).toEqual([
      "best-effort: cgroup v2 is not mounted (of it)",
      "memory: by rlimit, per process; cpu: cannot be enforced; pids: by rlimit, per user; " +
        "output: by the service (of it)",
      "256 (maximum 512) (of it)",
      "100 (maximum 100) (of it)",
    ])
  })
})

describe("an older service", () => {
  test("has not said what it holds, and nothing is made up", () => {
    const found = examineEnforcement("it", { version: "0.0.1", containment: "cgroup" })

    expect(found).toMatchObject([
      { level: "ok", text: "cgroup (of it)" },
      { level: "warn", name: "limits", text: "not known: it is version 0.0.1, which does not say" },
    ])
    expect(found).toHaveLength(2)
  })
})
