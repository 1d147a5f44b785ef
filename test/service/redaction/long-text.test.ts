import { describe, expect, test } from "bun:test"
import { compileRedaction } from "../../../src/service/redaction/redaction.ts"
import { seededRandom } from "../../support/seeded-random.ts"

/** What comes out, and how often something was taken out, of pieces of so many bytes. */
function streamed(pattern: string, bytes: Uint8Array, pieceBytes: number) {
  const compiled = compileRedaction([{ name: null, text: pattern }])
  if (!compiled.ok) throw new Error(compiled.failure[0]?.why)
  const redactor = compiled.value.stream()
  const told: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    told.push(redactor.push(bytes.subarray(at, at + pieceBytes)).slice())
  }
  told.push(redactor.end())
  return { text: Buffer.concat(told).toString("latin1"), count: redactor.count }
}

/** The same of a pattern that always matches so many bytes, by the runtime's own expressions. */
function expected(pattern: string, matchBytes: number, text: string) {
  const starts = [...text.matchAll(new RegExp(`(?=${pattern})`, "g"))].map(({ index }) => index)
  let [out, count, end] = ["", 0, 0]
  for (const start of starts) {
    if (start >= end) {
      out += `${text.slice(end, start)}[redacted]`
      count += 1
    }
    end = start + matchBytes
  }
  return { text: out + text.slice(end), count }
}

describe("a text longer than anything that is kept of it", () => {
  test.each([700_000, 65_536, 65_537, 9973, 64])(
    "with a new state at every byte, and many matches, in pieces of %d",
    (pieceBytes) => {
      const chance = seededRandom(3)
      const bytes = new Uint8Array(150_000).map(() => (chance(40) === 0 ? 33 : 97 + chance(3)))
      const pattern = "[ab][abc]{30}!"
      const wanted = expected(pattern, 32, Buffer.from(bytes).toString("latin1"))

      const got = streamed(pattern, bytes, pieceBytes)

      expect(wanted.count).toBeGreaterThan(500)
      expect(got.count).toBe(wanted.count)
      expect(got.text === wanted.text).toBe(true)
    },
  )

  test.each([1_000_000, 65_536, 1000])("that is one match, in pieces of %d", (pieceBytes) => {
    const bytes = Buffer.from(`a sk-${"b".repeat(300_000)} sk-c end`)

    expect(streamed("sk-\\S+", bytes, pieceBytes)).toEqual({
      text: "a [redacted] [redacted] end",
      count: 2,
    })
  })

  test.each([1_000_000, 65_536, 1000])("that is never one, in pieces of %d", (pieceBytes) => {
    const bytes = Buffer.from(`${"a".repeat(300_000)}c${"a".repeat(2000)}b`)

    expect(streamed("a{2000}b", bytes, pieceBytes)).toEqual({
      text: `${"a".repeat(300_000)}c[redacted]`,
      count: 1,
    })
  })
})
