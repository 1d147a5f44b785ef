import { describe, expect, test } from "bun:test"
import assert from "node:assert/strict"
import { receiptLines } from "../../../src/cli/verify/receipt-lines.ts"
import { receiptOf } from "../../../src/execution/receipt.ts"
import type { ExecutionSpec } from "../../../src/execution/spec.ts"
import { sampleRecord, sampleSpec } from "../../support/sample-record.ts"

function linesOf(spec: Partial<ExecutionSpec>): string[] {
  const state = { kind: "ended", outcome: { kind: "exited", exitCode: 0 } } as const
  const endedAt = "2026-01-01T00:00:01.000Z"
  const receipt = receiptOf(sampleRecord({ state, endedAt, spec: { ...sampleSpec, ...spec } }), 0)
  assert(receipt !== null)
  return receiptLines(receipt)
}

describe("a receipt for people", () => {
  test("says which limits there were, and what held them", () => {
    const lines = linesOf({
      limits: { memoryBytes: 536_870_912, cpus: 0.5, pids: null },
      limitsHeldBy: { memoryBytes: "rlimit", cpus: "cgroup", pids: null },
      outputLimitBytes: 1_048_576,
    })

    const limits = lines.find((line) => line.startsWith("limits"))
    expect(limits).toEndWith("memory 512 MiB by rlimit, cpu 0.5 by cgroup, output 1.0 MiB")
  })

  test("has no line for limits when there were none", () => {
    expect(linesOf({}).filter((line) => line.startsWith("limits"))).toEqual([])
  })
})
