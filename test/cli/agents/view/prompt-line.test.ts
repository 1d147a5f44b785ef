import { describe, expect, test } from "bun:test"
import {
  edited,
  emptyPrompt,
  type PromptLine,
  promptRows,
  sent,
} from "../../../../src/cli/agents/view/prompt-line.ts"
import { TypedInput } from "../../../../src/cli/agents/view/typed-input.ts"

/** What is made of keys, as a terminal sends them. */
function typed(keys: string, prompt: PromptLine = emptyPrompt): PromptLine {
  return new TypedInput().read(Buffer.from(keys)).reduce(edited, prompt)
}

/** With a bar where the cursor is. */
function shown({ text, at }: PromptLine): string {
  return `${text.slice(0, at)}|${text.slice(at)}`
}

describe("what is typed", () => {
  test("can be edited anywhere", () => {
    expect(shown(typed("hello\x1b[D\x1b[D!"))).toBe("hel!|lo")
    expect(shown(typed("hello\x01>\x05<"))).toBe(">hello<|")
    expect(shown(typed("one two\x17"))).toBe("one |")
    expect(shown(typed("one two\x01\x0b"))).toBe("|")
    expect(shown(typed("one\x1b[D\x15"))).toBe("|e")
    expect(shown(typed("ab\x1b[D\x1b[3~c\x7f"))).toBe("a|")
  })

  test("moves by whole characters, as people see them", () => {
    expect(shown(typed("a👍🏽\x7f"))).toBe("a|")
    expect(shown(typed("宽字\x1b[Dx"))).toBe("宽x|字")
  })

  test("has a history, and comes back to what was being typed", () => {
    const later = ["first", "second"].reduce(
      (prompt, line) => sent(typed(line, prompt)),
      emptyPrompt,
    )
    const draft = typed("dra", later)
    expect(typed("\x1b[A", draft).text).toBe("second")
    expect(typed("\x1b[A\x1b[A\x1b[A", draft).text).toBe("first")
    expect(typed("\x1b[A\x1b[A\x1b[B\x1b[B", draft).text).toBe("dra")
  })
})

describe("what is pasted", () => {
  test("is one text with its line ends, in whatever pieces it comes", () => {
    const bytes = Buffer.from("ab\x1b[200~one\r\ntwo\rthree ü\x1b[A\x1b[201~b")
    // Escape alone is a key, so what it begins with is never sent without the next byte.
    for (const size of [2, 4, 7, 100]) {
      const input = new TypedInput()
      const keys = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => {
        return input.read(bytes.subarray(at * size, (at + 1) * size))
      }).flat()
      expect(keys.reduce(edited, emptyPrompt).text).toBe("abone\ntwo\nthree ü\x1b[Ab")
    }
  })

  test("ends where its mark came in two pieces", () => {
    const input = new TypedInput()
    const keys = ["\x1b[200~on", "e\x1b[20", "1~!"].flatMap((piece) =>
      input.read(Buffer.from(piece)),
    )
    expect(keys).toEqual([{ pasted: "one" }, { typed: "!" }])
  })
})

describe("the rows of a prompt", () => {
  const rows = (keys: string, width: number, most = 8) => promptRows(typed(keys), "> ", width, most)

  test("are broken where the terminal ends, with the cursor where it belongs", () => {
    expect(rows("abc", 20)).toEqual({ rows: ["> abc"], row: 0, column: 5 })
    expect(rows("abcdefghij", 10)).toEqual({ rows: ["> abcdefg", "  hij"], row: 1, column: 5 })
    expect(rows("宽字符", 20)).toEqual({ rows: ["> 宽字符"], row: 0, column: 8 })
    expect(rows("a\x1b\rb\x1b[D", 20)).toEqual({ rows: ["> a", "  b"], row: 1, column: 2 })
  })

  test("are few, however much was pasted", () => {
    const pasted = `\x1b[200~${Array.from({ length: 5_000 }, (_, at) => at).join("\n")}\x1b[201~`
    const shownRows = rows(pasted, 20, 4)
    expect(shownRows.rows).toHaveLength(4)
    expect(shownRows.rows.at(-1)).toBe("  4999")
    expect(shownRows.row).toBe(3)
  })
})
