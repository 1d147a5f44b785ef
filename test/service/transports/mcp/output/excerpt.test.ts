import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { excerptOf } from "../../../../../src/service/transports/mcp/output/excerpt.ts"
import { StagedExecution } from "../../../../support/staged-execution.ts"
import { scopeAround } from "../staged-scope.ts"

describe("an excerpt of an output", () => {
  test("is its beginning and its end, and says how much lies between", async () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom("a", "é", "\n"), maxLength: 400 }),
      fc.integer({ min: 0, max: 5000 }).map((length) => "x".repeat(length)),
    )
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 100, max: 300 }), async (all, mostBytes) => {
        using staged = new StagedExecution()
        if (all !== "") staged.write(all)
        staged.end()

        const excerpt = await excerptOf(scopeAround(staged), staged.record, mostBytes)

        if (!excerpt.ok) throw new Error(excerpt.failure.message)
        const { head, tail, omittedBytes } = excerpt.value
        const [headBytes, tailBytes] = [Buffer.byteLength(head), Buffer.byteLength(tail)]
        expect(headBytes + tailBytes).toBeLessThanOrEqual(mostBytes)
        expect(headBytes + omittedBytes + tailBytes).toBe(Buffer.byteLength(all))
        expect(all.startsWith(head)).toBe(true)
        expect(all.endsWith(tail)).toBe(true)
        expect(tail === "").toBe(Buffer.byteLength(all) <= mostBytes)
      }),
    )
  })
})
