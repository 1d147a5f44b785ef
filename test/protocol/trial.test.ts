import { describe, expect, test } from "bun:test"
import { trialMethods } from "../../src/protocol/trial.ts"

describe("a list of trials", () => {
  const { params } = trialMethods["trial.list"]

  test("is of one chain, or of one file", () => {
    expect(params.safeParse({ chain: "a".repeat(64) }).success).toBe(true)
    expect(params.safeParse({ path: "/w/T01.md" }).success).toBe(true)
    expect(params.safeParse({}).success).toBe(false)
    expect(params.safeParse({ chain: "a".repeat(64), path: "/w/T01.md" }).success).toBe(false)
  })
})
