import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { ExecutionId, executionIdFrom, shortId } from "../../src/execution/id.ts"

describe("an execution's id", () => {
  test("is base32 of 128 bits, whatever they are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (random) => {
        const id = executionIdFrom(random)
        expect(ExecutionId.safeParse(id).success).toBe(true)
        expect(id.startsWith(shortId(id))).toBe(true)
      }),
    )
  })

  test("differs where a single bit differs", () => {
    const zero = new Uint8Array(16)
    const ids = new Set([executionIdFrom(zero)])
    for (let bit = 0; bit < 128; bit++) {
      const random = new Uint8Array(16)
      random[bit >> 3] = 1 << (bit & 7)
      ids.add(executionIdFrom(random))
    }
    expect(ids.size).toBe(129)
  })
})
