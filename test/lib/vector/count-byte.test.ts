import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { countByte, countInWords } from "../../../src/lib/vector/line-ends.ts"

// Few different bytes, so that most runs hold the one that is counted.
const fewBytes = fc.array(fc.constantFrom(0, 9, 10, 11, 0x8a, 255), { maxLength: 3000 })
const anyByte = fc.constantFrom(0, 10, 0x8a, 255)

function oneByOne(bytes: Uint8Array, byte: number): number {
  return bytes.filter((one) => one === byte).length
}

describe("a byte", () => {
  test("is counted as one by one, whatever is around it, however it lies in memory", () => {
    fc.assert(
      fc.property(fewBytes, anyByte, fc.nat({ max: 17 }), (list, byte, skipped) => {
        const bytes = Uint8Array.from(list).subarray(skipped)
        expect(countByte(bytes, byte)).toBe(oneByOne(bytes, byte))
        expect(countInWords(bytes, byte)).toBe(oneByOne(bytes, byte))
      }),
      { numRuns: 500 },
    )
  })

  test.each([0, 1, 63, 64, 65, 255, 256, 257, 65_535, 65_536, 65_537, 200_000])(
    "is found %d times in so many of it, and nowhere in others",
    (length) => {
      expect(countByte(new Uint8Array(length).fill(10), 10)).toBe(length)
      expect(countByte(new Uint8Array(length).fill(11), 10)).toBe(0)
      expect(countInWords(new Uint8Array(length).fill(10), 10)).toBe(length)
    },
  )
})
