import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { onOneLine } from "../../../src/cli/terminal/table.ts"

describe("what somebody else wrote is shown", () => {
  test("with its control characters escaped", () => {
    expect(onOneLine("a\u001b[31m\n\t\u009b")).toBe("a\\u001b[31m\\n\\t\\u009b")
  })

  test("with what turns the direction of writing escaped", () => {
    const turned = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

    expect(onOneLine(`rm ${turned}`)).toBe(
      "rm \\u061c\\u200e\\u200f\\u202a\\u202b\\u202c\\u202d\\u202e\\u2066\\u2067\\u2068\\u2069",
    )
  })

  test("with what cannot be seen escaped, beyond U+FFFF too", () => {
    expect(onOneLine("a\u00ad\u200b\u2028\u2029\u2060\u3164\ufeff\u{e0041}z")).toBe(
      "a\\u00ad\\u200b\\u2028\\u2029\\u2060\\u3164\\ufeff\\udb40\\udc41z",
    )
  })

  test("as it is where every character can be seen, in any writing", () => {
    const seen = 'grep "é" für 東京 שלום مرحبا 😀 a\\b'

    expect(onOneLine(seen)).toBe(seen)
  })

  test("so that it can be told what it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const written = text.replaceAll(/["\\]/g, "")
        expect(JSON.parse(`"${onOneLine(written)}"`)).toBe(written)
      }),
    )
  })
})
