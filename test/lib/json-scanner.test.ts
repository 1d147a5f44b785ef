import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { JsonScanner } from "../../src/lib/json-scanner.ts"
import { tryParseJson } from "../../src/lib/parse-json.ts"
import { TextCounter } from "../../src/lib/text-counter.ts"

describe("a scanner of JSON", () => {
  test("finds what JSON.parse finds, wherever the text is cut", () => {
    const indented = fc.constantFrom(0, 2)
    fc.assert(
      fc.property(fc.jsonValue(), indented, fc.nat(), (value, indent, size) => {
        const json = JSON.stringify(value, null, indent)
        expect(scanned(pieces(json, 1 + (size % 7)))).toEqual(tryParseJson(json))
      }),
    )
  })

  test("finds escaped characters wherever the text is cut", () => {
    const json =
      '{"a\\u0041\\"":"\\ud83d\\ude00\\\\\\n\\u00e9 \\"x\\"","b":[1,-2.5e3,true,null,""]}'
    for (let size = 1; size <= json.length; size += 1) {
      expect(scanned(pieces(json, size))).toEqual(tryParseJson(json))
    }
  })

  test("refuses exactly what JSON.parse refuses", () => {
    const marks = fc.constantFrom(...'{}[]:,"\\u0e-. '.split(""), "true", "null", '"a"', "12")
    fc.assert(
      fc.property(fc.array(marks, { maxLength: 12 }), (parts) => {
        const text = parts.join("")
        expect(scanned([text]) === undefined).toBe(tryParseJson(text) === undefined)
      }),
      { numRuns: 3000 },
    )
  })
})

describe("a counter of a text", () => {
  test("counts what split() does, wherever the pieces are cut", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 60 })
    const needle = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(letters, needle, fc.integer({ min: 1, max: 9 }), (text, wanted, size) => {
        const counter = new TextCounter(wanted)
        for (const piece of pieces(text, size)) counter.push(piece)
        expect(counter.total()).toBe(text.split(wanted).length - 1)
      }),
    )
  })

  test("counts across batches, also of a text that is longer than one", () => {
    const wanted = "x".repeat(200_000)
    const counter = new TextCounter(wanted)
    for (const piece of pieces(`y${wanted}y${wanted}${wanted}y`, 1000)) counter.push(piece)
    expect(counter.total()).toBe(3)
  })
})

function pieces(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  )
}

/** The value that the events tell of; undefined for what is no JSON. */
function scanned(texts: string[]): unknown {
  const written: string[] = []
  let text = ""
  let afterKey = false
  const kinds: string[] = []
  const value = (json: string) => {
    const isFirst = /[[{]$|^$/.test(written.at(-1) ?? "")
    written.push(`${afterKey || isFirst ? "" : ","}${json}`)
    afterKey = false
  }
  const scanner = new JsonScanner({
    open: (kind) => {
      value(kind === "object" ? "{" : "[")
      kinds.push(kind)
    },
    close: () => written.push(kinds.pop() === "object" ? "}" : "]"),
    key: (name) => {
      value(`${JSON.stringify(name)}:`)
      afterKey = true
    },
    text: (piece, isLast) => {
      text += piece
      if (!isLast) return
      value(JSON.stringify(text))
      text = ""
    },
    scalar: value,
  })
  for (const one of texts) scanner.push(one)
  return scanner.end() ? tryParseJson(written.join("")) : undefined
}
