import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { unfinishedLength } from "../../../../src/lib/utf8.ts"
import { decodeCursor, encodeCursor } from "../../../../src/service/gateway/operations/cursor.ts"

const none = new Uint8Array(0)
const position = { segment: 3, offset: 128, sequence: 70_000, lines: 12, inside: 40 }

const unfinished = fc
  .tuple(fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), fc.nat(3))
  .map(([character, length]) => new TextEncoder().encode(character).slice(0, length))
  .filter((bytes) => unfinishedLength(bytes) === bytes.length)

const anyCursor = fc
  .record({
    segment: fc.nat(0xffff_ffff),
    offset: fc.maxSafeNat(),
    sequence: fc.maxSafeNat(),
    lines: fc.maxSafeNat(),
    inside: fc.nat(64_511),
    stdout: unfinished,
    stderr: unfinished,
  })
  .filter(({ lines, inside, sequence }) => lines <= sequence && inside <= sequence)
  .map(({ stdout, stderr, ...numbers }) => ({ position: numbers, held: { stdout, stderr } }))

describe("a cursor", () => {
  test("comes back as it went out", () => {
    fc.assert(
      fc.property(anyCursor, (cursor) => {
        expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor)
      }),
    )
  })

  test("is short", () => {
    const text = encodeCursor({ position, held: { stdout: none, stderr: none } })
    expect(text).toBe("1.3.3k.1i0g.c.14")
  })

  test("carries the bytes of a split character per stream", () => {
    const held = { stdout: Uint8Array.of(0xf0, 0x9f, 0x98), stderr: none }
    expect(encodeCursor({ position, held })).toBe("1.3.3k.1i0g.c.14.f09f98.")
  })
})

describe("what is no cursor", () => {
  test("is null, whatever it is", () => {
    const nearly = fc.tuple(anyCursor, fc.nat(), fc.string()).map(([cursor, at, junk]) => {
      const text = encodeCursor(cursor)
      const cut = at % (text.length + 1)
      return text.slice(0, cut) + junk + text.slice(cut)
    })
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearly, fc.string({ unit: "binary" })), (text) => {
        const decoded = decodeCursor(text)
        if (decoded !== null) expect(encodeCursor(decoded)).toBe(text)
      }),
    )
  })

  test.each([
    ["nothing", ""],
    ["a word", "start"],
    ["a whole character held back", "1.0.0.1.0.0.41."],
    ["another version", "2.0.0.0.0.0"],
    ["too few numbers", "1.0.0.0.0"],
    ["too many numbers", "1.0.0.0.0.0.0"],
    ["a number with a zero before it", "1.00.0.0.0.0"],
    ["a sign", "1.-1.0.0.0.0"],
    ["capital letters", "1.A.0.0.0.0"],
    ["a number past what is exact", "1.0.0.zzzzzzzzzzz.0.0"],
    ["a segment past 32 bits", "1.1z141z4.0.0.0.0"],
    ["more lines than bytes", "1.0.0.5.6.0"],
    ["a place inside a record, before its first byte", "1.0.0.5.0.6"],
    ["a place past a record's largest size", "1.0.0.zzzz.0.1ds0"],
    ["four held bytes", "1.0.0.0.0.0.f09f9880."],
    ["half a held byte", "1.0.0.0.0.0.f09."],
    ["held bytes of one stream only", "1.0.0.0.0.0.f0"],
    ["a line end after it", "1.0.0.0.0.0\n"],
  ])("%s", (_, text) => {
    expect(decodeCursor(text)).toBeNull()
  })
})
