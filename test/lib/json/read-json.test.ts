import { describe, expect, test } from "bun:test"
import { z } from "zod"
import { memberOf, readJsonText, valueOf } from "../../../src/lib/json/json-text.ts"
import { jsonFaultText, readJson } from "../../../src/lib/json/read-json.ts"
import { seededRandom } from "../../support/seeded-random.ts"

describe("a JSON text", () => {
  test.each([
    [
      "a comma is missing",
      '{\n  "a": 1\n  "b": 2\n}',
      "line 3, column 3: here should be `,` or `}`",
    ],
    ["a comma too many", '{"a": [1, 2,\n]}', "line 1, column 12: nothing may follow the last `,`"],
    ["a name without quotes", "{a: 1}", "line 1, column 2: here should be a name in double quotes"],
    ["single quotes", "{'a': 1}", "line 1, column 2: here should be a name in double quotes"],
    ["a line end in a text", '{"a": "x\ny"}', "line 1, column 9: a line ends within a text"],
    ["a wrong escape", '{"a": "\\d+"}', "line 1, column 8: this is no escape sequence"],
    ["no end", '{"a": [\n1', "line 2, column 2: the text ends where `,` or `]` should be"],
    ["a text without its end", '["ä", "b', "line 1, column 7: this text has no closing quote"],
    [
      "more behind it",
      "{}\n{}",
      "line 2, column 1: here should be the end of the text, and not `{`",
    ],
    ["a fence around it", "```json\n{}\n```", "line 1, column 1: here should be a value"],
    ["a key twice", '{"a": 1, "a": 2}', 'line 1, column 10: "a" stands in this object already'],
    ["nothing", "", "line 1, column 1: the text ends where a value should be"],
    ["a number that is none", "[01]", "line 1, column 2: here should be a value"],
    ["too many levels", "[".repeat(300), "line 1, column 257: it nests too deeply"],
  ])("is refused for %s, with its place", (_, text, said) => {
    const read = readJson(text, z.unknown())

    expect(read.ok ? [] : read.failure.map(jsonFaultText)).toEqual([expect.stringContaining(said)])
  })

  test("is refused with all that its form lacks, where it stands", () => {
    const schema = z.object({ list: z.array(z.object({ id: z.int(), name: z.string() })) })
    const text = '{"list": [\n  {"id": "x", "name": "a"},\n  {"id": 2}\n]}'

    const read = readJson(text, schema)

    expect(read.ok ? [] : read.failure).toMatchObject([
      { line: 2, column: 10, problem: expect.stringContaining("list → 0 → id") },
      { line: 3, column: 3, problem: expect.stringContaining("list → 1 → name") },
    ])
  })

  test("is read as JSON.parse does, and every value stands where it says", () => {
    const random = seededRandom(7)
    for (let round = 0; round < 300; round += 1) {
      const value = madeUp(random, 4)
      const text = JSON.stringify(value, null, round % 3)
      const read = readJsonText(text)

      expect(read.ok && valueOf(read.value)).toEqual(value)
      if (!read.ok || read.value.kind !== "object") continue
      for (const { key, start, value: node } of read.value.members) {
        expect(JSON.parse(text.slice(node.start, node.end))).toEqual(valueOf(node))
        expect(text.slice(start)).toStartWith(JSON.stringify(key))
        expect(memberOf(read.value, key)?.value).toBe(node)
      }
    }
  })

  test("that JSON.parse refuses is refused, whatever was broken in it", () => {
    const random = seededRandom(11)
    const text = JSON.stringify({ a: [1, "x\n\\\u00e9", null, { b: -1.5e3 }], "c d": false })
    for (let round = 0; round < 2000; round += 1) {
      const at = random(text.length)
      const to = ['"', "\\", "{", "}", ",", "1", " ", "", "\n"][random(9)] ?? ""
      const broken = text.slice(0, at) + to + text.slice(at + 1)
      const read = readJsonText(broken)
      if (read.ok) expect(valueOf(read.value)).toEqual(JSON.parse(broken))
      else expect([broken, isJson(broken) && !/"a":.*"a":/.test(broken)]).toEqual([broken, false])
    }
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function madeUp(random: (below: number) => number, depth: number): unknown {
  const kind = random(depth === 0 ? 4 : 6)
  if (kind === 0) return random(1e6) / 7
  if (kind === 1) return random(2) === 0
  if (kind === 2) return null
  if (kind === 3) return `"\\ \u2028 ${String.fromCharCode(random(0x3000))}`
  const count = random(4)
  const parts = Array.from({ length: count }, () => madeUp(random, depth - 1))
  return kind === 4 ? parts : Object.fromEntries(parts.map((part, at) => [`k ${at}"`, part]))
}
