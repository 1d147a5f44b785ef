import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { unfinishedLength } from "../../../../src/lib/utf8.ts"
import { wholeText } from "../../../../src/service/gateway/operations/whole-text.ts"

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const nothing = new Uint8Array(0)

/** Decodes pieces one after the other, as a feed does, and then what was left over. */
function decodeInPieces(pieces: Uint8Array[]): {
  text: string
  lossy: number
  longestHeld: number
} {
  let held: Uint8Array = nothing
  let text = ""
  let lossy = 0
  let longestHeld = 0
  for (const piece of pieces) {
    const whole = wholeText(held, piece)
    text += decoder.decode(whole.utf8)
    lossy += whole.lossy
    held = whole.held
    longestHeld = Math.max(longestHeld, held.length)
  }
  const rest = wholeText(nothing, held, "complete")
  return { text: text + decoder.decode(rest.utf8), lossy: lossy + rest.lossy, longestHeld }
}

function cut(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const places = [0, ...cuts.map((one) => one % (bytes.length + 1)), bytes.length]
  const sorted = places.toSorted((one, other) => one - other)
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end))
}

// Mostly bytes from which characters are made, so that the cuts fall inside of them.
const tricky = fc.constantFrom(
  ...Buffer.from("410a7f80bfa09fc0c2c3dfe0e2edefbfbdbbf0908ff4f5ff", "hex"),
)
const anyBytes = fc.array(fc.oneof({ weight: 5, arbitrary: tricky }, fc.nat({ max: 255 })))
const anyCuts = fc.array(fc.nat({ max: 1000 }), { maxLength: 8 })

describe("bytes that arrive in pieces", () => {
  test("give the text that the whole of them gives, wherever they are cut", () => {
    fc.assert(
      fc.property(anyBytes, anyCuts, (list, cuts) => {
        const bytes = Uint8Array.from(list)
        const { text, longestHeld } = decodeInPieces(cut(bytes, cuts))
        expect(text).toBe(decoder.decode(bytes))
        expect(longestHeld).toBeLessThanOrEqual(3)
      }),
      { numRuns: 3000 },
    )
  })

  test("lose nothing when they are text, and hold back less than a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), anyCuts, (written, cuts) => {
        const { text, lossy, longestHeld } = decodeInPieces(cut(Buffer.from(written), cuts))
        expect(text).toBe(written)
        expect(lossy).toBe(0)
        expect(longestHeld).toBeLessThanOrEqual(3)
      }),
      { numRuns: 2000 },
    )
  })

  test("count each U+FFFD that stands for something else, however they are cut", () => {
    fc.assert(
      fc.property(anyBytes, anyCuts, (list, cuts) => {
        const bytes = Uint8Array.from(list)
        expect(decodeInPieces(cut(bytes, cuts)).lossy).toBe(decodeInPieces([bytes]).lossy)
      }),
      { numRuns: 2000 },
    )
  })
})

describe("invalid bytes", () => {
  const cases: [number[], string, number][] = [
    [[0xff], "\uFFFD", 1],
    [[0x41, 0x80, 0x42], "A\uFFFDB", 1],
    [[0xef, 0xbf, 0xbd], "\uFFFD", 0],
    [[0xef, 0xbf, 0xbd, 0xff], "\uFFFD\uFFFD", 1],
    [[0xc3, 0x28], "\uFFFD(", 1],
    [[0xed, 0xa0, 0x80], "\uFFFD\uFFFD\uFFFD", 3],
    [[0xef, 0xbb, 0xbf, 0x41], "\uFEFFA", 0],
  ]
  test.each(cases)("%p become %p, of which %d are counted", (bytes, text, lossy) => {
    const whole = wholeText(nothing, Uint8Array.from(bytes), "complete")
    expect(decoder.decode(whole.utf8)).toBe(text)
    expect(whole.lossy).toBe(lossy)
  })
})

describe("the end of a piece", () => {
  const cases: [number[], number][] = [
    [[], 0],
    [[0x41], 0],
    [[0xc3], 1],
    [[0xc3, 0xa9], 0],
    [[0xe2, 0x82], 2],
    [[0xe2, 0x82, 0xac], 0],
    [[0xf0, 0x9f, 0x98], 3],
    [[0xf0, 0x9f, 0x98, 0x80], 0],
    [[0x80, 0x80, 0x80, 0x80], 0],
    [[0xc0], 0],
    [[0xf5, 0x80], 0],
  ]
  test.each(cases)("%p keeps back %d", (bytes, length) => {
    expect(unfinishedLength(Uint8Array.from(bytes))).toBe(length)
  })
})
