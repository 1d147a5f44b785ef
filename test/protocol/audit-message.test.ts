import { describe, expect, test } from "bun:test"
import { auditMessage } from "../../src/protocol/audit-message.ts"
import { failure } from "../../src/protocol/failure.ts"

describe("what the audit trail says of a refusal", () => {
  test("is what the client is told", () => {
    expect(auditMessage(failure("WRONG_STATE", "It is paused."))).toBe("It is paused.")
  })

  test("does not repeat a method or path that is none: anything may be in there", () => {
    const told = failure("METHOD_NOT_FOUND", 'Unknown method: "s3cret".')

    expect(auditMessage(told)).toBe("Unknown method or path.")
  })
})
