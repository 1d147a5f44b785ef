import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { afterLineEnds, countLineEnds } from "../../../src/lib/vector/line-ends.ts"

function naiveCount(bytes: Uint8Array): number {
  return bytes.filter((byte) => byte === 0x0a).length
}

describe("counting line ends", () => {
  test("agrees with the obvious way for any bytes at any alignment", () => {
    const dense = fc.uint8Array({ maxLength: 300 })
    const sparse = fc.array(fc.constantFrom(0x0a, 0x0b, 0x8a, 0x00, 0xff, 0x7f), {
      maxLength: 3000,
    })
    const bytes = fc.oneof(
      dense,
      sparse.map((all) => Uint8Array.from(all)),
    )

    fc.assert(
      fc.property(bytes, fc.nat({ max: 7 }), (any, shift) => {
        const shifted = new Uint8Array(any.length + shift)
        shifted.set(any, shift)
        expect(countLineEnds(shifted.subarray(shift))).toBe(naiveCount(any))
      }),
    )
  })

  test("counts nothing but line ends, however many", () => {
    for (const length of [0, 1, 15, 16, 17, 1007, 1008, 1009, 65_536]) {
      expect(countLineEnds(new Uint8Array(length).fill(0x0a))).toBe(length)
      expect(countLineEnds(new Uint8Array(length).fill(0x8a))).toBe(0)
    }
  })
})

describe("passing line ends", () => {
  const bytes = new TextEncoder().encode("one\ntwo\nthree")

  test("stops after the last of them", () => {
    expect([0, 1, 2].map((lines) => afterLineEnds(bytes, lines))).toEqual([0, 4, 8])
  })

  test("stops at the end where there are fewer", () => {
    expect(afterLineEnds(bytes, 3)).toBe(bytes.length)
  })
})
