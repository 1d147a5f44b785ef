import { describe, expect, test } from "bun:test"
import { checkParams, invalidParams } from "../../src/protocol/check-params.ts"
import { ExecuteParams } from "../../src/protocol/execute.ts"

function reasonOf(params: unknown, policy: "everything" | "allow-list"): string {
  const checked = checkParams(ExecuteParams, params)
  return checked.ok ? "they fit" : invalidParams("They do not fit.", checked.failure, policy).reason
}

describe("parameters that do not fit", () => {
  const aboutWhatRuns = [
    null,
    "echo",
    {},
    { command: {} },
    { argv: "echo" },
    { argv: ["echo"], shell: true },
    { argv: ["echo"], env: { A: 1 } },
    { argv: ["echo"], cwd: 1 },
    { argv: ["echo"], timeout: -1, env: [] },
  ]
  const aboutOthers = [
    { argv: ["echo"], timeout: -1 },
    { argv: ["echo"], labels: { a: 1 } },
  ]

  test("and say what to run are denied where a list rules", () => {
    for (const params of aboutWhatRuns) {
      expect(reasonOf(params, "allow-list")).toBe("SECURITY_DENIED")
      expect(reasonOf(params, "everything")).toBe("INVALID_PARAMS")
    }
  })

  test("and say anything else are a mistake as ever", () => {
    for (const params of aboutOthers) {
      expect(reasonOf(params, "allow-list")).toBe("INVALID_PARAMS")
      expect(reasonOf(params, "everything")).toBe("INVALID_PARAMS")
    }
  })
})
