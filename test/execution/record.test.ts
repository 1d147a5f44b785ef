import { describe, expect, test } from "bun:test"
import { Receipt, receiptOf } from "../../src/execution/receipt.ts"
import { ExecutionRecord } from "../../src/execution/record.ts"
import { sampleRecord } from "../support/sample-record.ts"

describe("what was written before there was redaction", () => {
  const ended = sampleRecord({
    state: { kind: "ended", outcome: { kind: "exited", exitCode: 0 } },
    endedAt: "2026-01-01T00:00:01.000Z",
    redacted: { stdout: 1, stderr: 2, spec: 3 },
  })

  test("is read as a record without", () => {
    const { redacted, ...before } = ended

    expect(ExecutionRecord.parse(before).redacted).toBeNull()
    expect(ExecutionRecord.parse(ended).redacted).toEqual(redacted)
  })

  test("is read as a receipt that says nothing of it", () => {
    const receipt = receiptOf(ended, 0)
    const { redacted: _, ...before } = { ...receipt }

    expect(Receipt.parse(before).redacted).toBeUndefined()
    expect(Receipt.parse(receipt).redacted).toEqual({ stdout: 1, stderr: 2, spec: 3 })
  })
})
