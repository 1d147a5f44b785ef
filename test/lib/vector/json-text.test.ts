import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { withJsonText } from "../../../src/lib/vector/json-text.ts"

const everyCharacter = fc.string({ unit: "binary", maxLength: 300 })
// Mostly what needs escaping, so that escapes of every length meet in every place of a block.
const mostlyEscapes = fc.string({
  unit: fc.constantFrom("\n", '"', "\\", "\t", "\u001b", "\0", "\u001f", "\u007f", "a", "é", "😀"),
  maxLength: 300,
})

function quoted(text: string): string {
  return withJsonText("", Buffer.from(text), "")
}

describe("a text inside a JSON document", () => {
  test("is what JSON.stringify makes of it", () => {
    fc.assert(
      fc.property(fc.oneof(everyCharacter, mostlyEscapes), (text) => {
        expect(quoted(text)).toBe(JSON.stringify(text))
      }),
      { numRuns: 3000 },
    )
  })

  test("is so for every byte in every place of a block", () => {
    for (let byte = 0; byte < 128; byte++) {
      for (let place = 0; place < 40; place++) {
        const text = `${"x".repeat(place)}${String.fromCharCode(byte)}${"\n".repeat(40 - place)}`
        expect(quoted(text)).toBe(JSON.stringify(text))
      }
    }
  })

  test("stands between what comes before it and after it", () => {
    const bytes = Buffer.from("<< a line\n >>").subarray(3, 10)

    expect(withJsonText('{"größe":', bytes, ',"n":1}')).toBe('{"größe":"a line\\n","n":1}')
  })

  test.each([1000, 1366, 4000, 5000])("may have %d characters around it", (length) => {
    for (const character of ["x", "é", "€"]) {
      const around = character.repeat(length)
      expect(withJsonText(around, Buffer.from("\n"), around)).toBe(`${around}"\\n"${around}`)
    }
  })

  test.each([0, 65_535, 65_536, 65_600, 65_601, 300_000])("may be %d bytes long", (length) => {
    for (const character of ["x", "\n", "\u001b"]) {
      const text = character.repeat(length)
      expect(quoted(text) === JSON.stringify(text)).toBe(true)
    }
  })

  test("leaves nothing of a longer one before it", () => {
    quoted("\u001b".repeat(1000))

    expect(quoted("short")).toBe('"short"')
  })
})
