import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { foldedLines, line, rowsOf, wrapped } from "../../../../src/cli/agents/view/line.ts"
import { coloursFor } from "../../../../src/cli/terminal/colours.ts"
import { plainText, terminalText } from "../../../../src/cli/terminal/terminal-text.ts"
import { fakeOutput } from "../../fake-context.ts"

const colours = coloursFor(fakeOutput(), {})
const rows =
  (...given: Parameters<typeof line>) =>
  (width: number | null) =>
    rowsOf(line(...given), width, colours).map(plainText)

describe("a line of a conversation", () => {
  test("is broken between words, and inside of those that are too long", () => {
    expect(wrapped("one two three", 8)).toEqual(["one two", "three"])
    expect(wrapped("abcdefghijklmnop qrs", 10)).toEqual(["abcdefghij", "klmnop qrs"])
    expect(wrapped("    abcdefghijklmnop", 10)).toEqual(["    abcdef", "ghijklmnop"])
    expect(wrapped("宽字符也要正确", 5)).toEqual(["宽字", "符也", "要正", "确"])
  })

  test("loses nothing but the spaces that it is broken at, and no row is too wide", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "宽", "-", '"') })
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 20 }), (whole, width) => {
        const broken = wrapped(whole, width)

        expect(broken.join("").replaceAll(" ", "")).toBe(whole.replaceAll(" ", ""))
        for (const row of broken) expect(Bun.stringWidth(row)).toBeLessThanOrEqual(width)
      }),
    )
  })

  test("is indented under its prefix, or cut", () => {
    const said = rows("one two three four", { prefix: "anna> " })
    expect(said(16)).toEqual(["anna> one two", "      three four"])
    expect(said(null)).toEqual(["anna> one two three four"])
    expect(rows("one two three four", { isCut: true })(10)).toEqual(["one two t…"])
  })

  test("shows what a terminal would obey, and is not longer than anybody would read", () => {
    expect(rows("a\x1b[2Jb\tc\u202ed")(80)).toEqual(["a\\u001b[2Jb    c\\u202ed"])
    const [row = ""] = rows("x".repeat(1024 * 1024))(null)
    expect(row).toMatch(/x… 1,038,576 more characters$/)
    expect(row.length).toBeLessThan(11_000)
  })

  test("cannot act on a terminal by its prefix either", () => {
    const [row = ""] = rowsOf(line("hello", { prefix: "an\x1b[2Jna> " }), 80, colours)
    expect(terminalText(row)).toBe("an\\u001b[2Jna> hello")
  })
})

test("of much text the first lines are shown, and how many more there are", () => {
  const text = Array.from({ length: 10_000 }, (_, index) => `${index + 1}`).join("\n")
  const folded = foldedLines(`${text}\n`, 3, { prefix: "└ " })
  expect(folded.map((one) => `${one.prefix}${one.text}`)).toEqual([
    "└ 1",
    "  2",
    "  3",
    "  … 9,997 more lines",
  ])
})
