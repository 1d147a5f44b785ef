import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createByteSearch } from "../../../../../src/service/storage/transcript/read/byte-search.ts"

function search(needle: Uint8Array, pieces: Uint8Array[]): number | null {
  const bytes = createByteSearch(needle)
  for (const piece of pieces) bytes.push(piece)
  return bytes.result()
}

describe("searching a stream that comes in pieces", () => {
  test("finds what is there, first of all, however it is cut", () => {
    const letters = fc.array(fc.constantFrom(0x61, 0x62), { maxLength: 60 })
    const pieces = fc.array(letters.map((all) => Uint8Array.from(all)))
    const needle = fc.array(fc.constantFrom(0x61, 0x62), { minLength: 1, maxLength: 8 })

    fc.assert(
      fc.property(pieces, needle, (all, wanted) => {
        const index = Buffer.concat(all).indexOf(Buffer.from(wanted))
        expect(search(Uint8Array.from(wanted), all)).toBe(index === -1 ? null : index)
      }),
    )
  })

  test("finds it across the border of what is searched at a time", () => {
    const needle = Buffer.from("needle")
    for (let at = 256 * 1024 - 10; at < 256 * 1024 + 10; at += 1) {
      const hay = Buffer.alloc(600_000, "x")
      needle.copy(hay, at)
      expect(search(needle, [hay.subarray(0, at + 3), hay.subarray(at + 3)])).toBe(at)
    }
  })
})
