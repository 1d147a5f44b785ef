import { describe, expect, test } from "bun:test"
import { unitIn } from "../../../src/cli/connect/hand-over-settings.ts"

describe("the unit that restarts a service", () => {
  test("is the innermost one on the way to its cgroup", () => {
    expect(unitIn("0::/system.slice/executor.service/supervisor\n")).toEqual({
      unit: "executor.service",
      isUsers: false,
    })
  })

  test("may be of a user's manager", () => {
    const path = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/executor.service\n"
    expect(unitIn(path)).toEqual({ unit: "executor.service", isUsers: true })
  })

  test("is called as we call it where the cgroup does not say", () => {
    expect(unitIn("0::/\n")).toEqual({ unit: "cc-executor", isUsers: false })
  })
})
