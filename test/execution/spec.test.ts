import { describe, expect, test } from "bun:test"
import { ExecutionSpec, heldByNothing } from "../../src/execution/spec.ts"
import { sampleSpec } from "../support/sample-record.ts"

describe("a spec that was recorded before limits told what held them", () => {
  test("can be read, and claims neither a holder nor a limit of output", () => {
    const { limitsHeldBy: _, outputLimitBytes: __, ...older } = sampleSpec

    const read = ExecutionSpec.parse(JSON.parse(JSON.stringify(older)))

    expect(read).toEqual({ ...sampleSpec, limitsHeldBy: heldByNothing, outputLimitBytes: null })
  })
})
