import { describe, expect, test } from "bun:test"
import { ExecuteParams } from "../../../../src/protocol/execute.ts"
import { fingerprint } from "../../../../src/service/keeper/serve/settings.ts"

const request = { argv: ["true"], idempotency_key: "one" }
const printOf = (params: unknown) => fingerprint(ExecuteParams.parse(params), null)

describe("the fingerprint of a request", () => {
  test("is that of another one that runs the same", () => {
    const others = [
      { idempotency_key: "two", argv: ["true"] },
      { ...request, acknowledges: true },
      { ...request, acknowledges: false },
    ]

    expect(others.map(printOf)).toEqual(others.map(() => printOf(request)))
  })

  test("is not that of one that runs something else", () => {
    const others = [
      { ...request, argv: ["true", "1"] },
      { ...request, cwd: "/" },
      { ...request, budget: { policy: "block" } },
    ]

    expect(others.map(printOf)).not.toContain(printOf(request))
  })
})
