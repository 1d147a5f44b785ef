import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type JsonFault, parseJson } from "../../src/lib/parse-json.ts"
import { fail, ok, type Result } from "../../src/lib/result.ts"

const large = " ".repeat(70_000)
const tooMuch = fail("JSON of more than 250000 values" as const)

describe("JSON that is within bounds", () => {
  test("is what JSON.parse makes of it, large or small", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), fc.constantFrom("", large), (text, space) => {
        const read = parseJson(space + text)
        expect(read).toEqual(expected(text))
      }),
      { numRuns: 1000 },
    )
  })

  test("may have any number of brackets, commas and quotes inside a string", () => {
    const marks = fc.string({ unit: fc.constantFrom("[", ",", '"', "\\", "{", "\\\\", "a") })
    fc.assert(
      fc.property(marks, (text) => {
        const value = { a: [text.repeat(300_000 / (text.length + 1)), 1], [text]: text }
        expect(parseJson(JSON.stringify(value))).toEqual({ ok: true, value })
      }),
      { numRuns: 30 },
    )
  })

  test("may have as many values as any request needs", () => {
    const argv = Array.from({ length: 65_536 }, (_, number) => `x,[${number}`)
    const env = Object.fromEntries(argv.slice(0, 10_000).map((name) => [name, name]))

    expect(parseJson(JSON.stringify({ argv, env }))).toEqual({ ok: true, value: { argv, env } })
  })
})

describe("JSON that would become too much", () => {
  test.each([
    ["many numbers", `[${"1,".repeat(300_000)}1]`],
    ["many empty objects", `{"a":[${"{},".repeat(300_000)}{}]}`],
    ["brackets after a string that looks unfinished", `["\\\\",${"[],".repeat(300_000)}1]`],
  ])("is refused: %s", (_, text) => {
    expect(parseJson(text)).toEqual(tooMuch)
  })

  test.each([
    ["arrays", "[".repeat(1001) + "]".repeat(1001)],
    ["objects", '{"a":'.repeat(20_000) + "1" + "}".repeat(20_000)],
    ["brackets without an end", "[".repeat(7_000_000)],
  ])("is refused where it is too deep to be walked through: %s", (_, text) => {
    expect(parseJson(text)).toEqual(fail("JSON of more than 1000 levels"))
  })

  test("may be as deep as anybody needs, and as often", () => {
    const deep = "[".repeat(999) + "]".repeat(999)

    expect(parseJson(`[${deep},${deep},${deep}]`)).toMatchObject({ ok: true })
  })

  test("is not JSON where a string has no end", () => {
    expect(parseJson(`${large}"${'\\"'.repeat(300_000)}`)).toMatchObject({ failure: "not JSON" })
  })
})

function expected(text: string): Result<unknown, JsonFault> {
  try {
    return ok(JSON.parse(text))
  } catch {
    return fail("not JSON")
  }
}
