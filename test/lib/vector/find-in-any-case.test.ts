import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  type Find,
  findByPattern,
  findInAnyCase,
} from "../../../src/lib/vector/find-in-any-case.ts"

const waysToFind: [string, (needle: Uint8Array) => Find][] = [
  ["sixteen bytes at a time", findInAnyCase],
  ["by a pattern", findByPattern],
]

// So few letters that matches, and almost matches, are frequent.
const someByte = fc.constantFrom(0x41, 0x61, 0x42, 0x62, 0x20, 0x40, 0x60, 0x5b, 0x7b, 0xc3, 0)
const someBytes = (range: { minLength?: number; maxLength: number }) =>
  fc.array(someByte, range).map((all) => Uint8Array.from(all))

describe.each(waysToFind)("finding in any case, %s", (_, finder) => {
  test("agrees with the obvious way, from any place on", () => {
    const needles = someBytes({ minLength: 1, maxLength: 40 })

    fc.assert(
      fc.property(
        needles,
        someBytes({ maxLength: 300 }),
        fc.nat({ max: 60 }),
        (needle, all, at) => {
          expect(finder(needle)(all, at)).toBe(obviousPlace(all, needle, at))
        },
      ),
      { numRuns: 500 },
    )
  })

  test("agrees with it on needles that are there", () => {
    fc.assert(
      fc.property(
        someBytes({ minLength: 1, maxLength: 300 }),
        fc.nat(),
        fc.nat(),
        (all, one, two) => {
          const first = one % all.length
          const needle = all.slice(first, first + 1 + (two % (all.length - first)))
          expect(finder(needle)(all, 0)).toBe(obviousPlace(all, needle, 0))
        },
      ),
    )
  })

  test("finds nothing past the end, where others have left their bytes", () => {
    const find = finder(bytesOf("needle"))

    expect(find(bytesOf("a longer text, in it a NEEDLE"), 0)).toBe(23)
    expect(find(bytesOf("a longer text, in it a NEED"), 0)).toBe(-1)
  })

  test("finds matches one after the other, though another search is in between", () => {
    const [find, other] = [finder(bytesOf("ab")), finder(bytesOf("zz"))]
    const text = bytesOf("AB.ab.aB.Ab")

    const found: number[] = []
    for (let at = find(text, 0); at !== -1; at = find(text, at + 1)) {
      found.push(at)
      expect(other(text, 0)).toBe(-1)
    }

    expect(found).toEqual([0, 3, 6, 9])
  })

  test("finds what lies across every border of long bytes", () => {
    const needle = bytesOf(`Across${"-".repeat(100)}`)
    const find = finder(needle)
    const all = new Uint8Array(300_000).fill(0x2e)
    for (const at of [0, 65_500, 69_600, 139_000, 300_000 - needle.length]) all.set(needle, at)

    const found: number[] = []
    for (let at = find(all, 0); at !== -1; at = find(all, at + 1)) found.push(at)

    expect(found).toEqual([0, 65_500, 69_600, 139_000, 300_000 - needle.length])
  })
})

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function obviousPlace(all: Uint8Array, needle: Uint8Array, from: number): number {
  const isAt = (at: number) => needle.every((byte, index) => small(byte) === small(all[at + index]))
  for (let at = from; at + needle.length <= all.length; at += 1) if (isAt(at)) return at
  return -1
}

function small(byte = -1): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
}
