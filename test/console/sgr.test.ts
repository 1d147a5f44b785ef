import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { plain, readLine } from "../../src/console/execution/sgr.ts"

function textOf(line: string): string {
  return readLine(line, plain)
    .runs.map(({ text }) => text)
    .join("")
}

describe("a line of output", () => {
  test("has the colours it asks for, up to the next line", () => {
    const { runs, after } = readLine("a\x1b[1;31mb\x1b[38;5;202mc\x1b[48;2;1;2;3md", plain)

    expect(runs.map(({ text, style }) => [text, style.foreground, style.background])).toEqual([
      ["a", null, null],
      ["b", 1, null],
      ["c", "#ff5f00", null],
      ["d", "#ff5f00", "#010203"],
    ])
    expect([...after.marks]).toEqual(["bold"])
    expect(readLine("e\x1b[mf", after).after).toBe(plain)
  })

  test.each([
    ["10%\r20%\x1b[K", "20%"],
    ["long text\rshort", "shorttext"],
    ["abc\b\bX", "aXc"],
    ["a\x1b[2Kb", " b"],
    ["\x1b[2J\x1b[Hhome", "home"],
    ["\x1b]0;title\x07text", "text"],
    ["\x1b]8;;https://example.net\x1b\\link\x1b]8;;\x1b\\", "link"],
    ["\x1b]never ended", ""],
    ["nul\0 del\x7f bell\x07", "nul\u2400 del\u2421 bell"],
    ["a\u202eb", String.raw`a\u202eb`],
    ["tab\tstays", "tab\tstays"],
    ["\x9b31mred", "red"],
  ])("%j is shown as %j", (line, shown) => {
    expect(textOf(line)).toBe(shown)
  })

  test("never holds a control character or one that turns text, whatever was written", () => {
    const unseen = /[^\P{Cc}\t]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (line) => {
        expect(textOf(line.replaceAll("\n", ""))).not.toMatch(unseen)
      }),
    )
  })
})
