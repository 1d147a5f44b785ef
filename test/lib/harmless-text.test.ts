import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { harmless, onOneLine } from "../../src/lib/harmless-text.ts"

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

describe("a text of several lines", () => {
  test("keeps its line ends and tabs, and nothing else that acts on a terminal", () => {
    expect(harmless("a\tb\r\n\u001b[2J\u0085\u202e\u007f\u0000\n")).toBe(
      "a\tb\\r\n\\u001b[2J\\u0085\\u202e\\u007f\\u0000\n",
    )
  })

  test("has no half of a character that another text could complete", () => {
    expect(harmless("\udb40") + harmless("\udc41")).toBe("\\udb40\\udc41")
    expect(harmless("😀 \u{e0041}")).toBe("😀 \\udb40\\udc41")
  })

  test("means the same as before where it is JSON", () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: "binary" }), fc.nat(3), (json, indent) => {
        const value: unknown = JSON.parse(json)
        const text = harmless(JSON.stringify(value, null, indent))
        expect(JSON.parse(text)).toEqual(value)
        expect(text).not.toMatch(/[^\P{C}\n\p{Co}\p{Cn}]/u)
      }),
    )
  })
})
