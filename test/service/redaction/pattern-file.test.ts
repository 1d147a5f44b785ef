import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { readPatternFile } from "../../../src/service/redaction/redaction.ts"

function redacted(file: string, text: string): string {
  const redaction = readPatternFile(file)
  if (!redaction.ok) throw new Error(redaction.failure.join("; "))
  return redaction.value?.text(text).text ?? text
}

describe("a file of patterns", () => {
  test("has one a line, with a name or without; comments and blank lines mean nothing", () => {
    const file = "# keys\r\n\r\n  github-token = ghp_\\w{4,}  \r\npassword=\\S+\r\n#a = b\r\n"

    expect(redacted(file, "ghp_12345 password=x b")).toBe("[redacted:github-token] [redacted] b")
  })

  test("takes what stands before an `=` for a name only with spaces around it", () => {
    expect(redacted("key=\\d", "key=1 2")).toBe("[redacted] 2")
    expect(redacted("key = \\d", "key=1")).toBe("key=[redacted:key]")
    expect(redacted("a b = c", "a b = c d")).toBe("[redacted] d")
  })

  test("without any pattern is no redaction at all", () => {
    expect(readPatternFile("# nothing yet\n\n")).toEqual({ ok: true, value: null })
  })

  test("can be what the documentation shows", async () => {
    const page = await Bun.file(join(import.meta.dir, "../../../docs/configuration.md")).text()
    const [, example = ""] = /## Redaction[^]*?```text\n([^]*?)```/.exec(page) ?? []
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${"Ab+/".repeat(16)}\n${"x9=".repeat(5)}\n`
    const tokens = `ghp_${"a1".repeat(20)}, sk-${"b-2_".repeat(6)}`

    expect(redacted(example, `${tokens}: ToKen = x y; Secret\n${key}-----END`)).toBe(
      "[redacted:github-token], [redacted:api-key]: [redacted] y; Secret\n" +
        "[redacted:private-key]-----END",
    )
  })

  test("with wrong ones says which lines, and why", () => {
    const file = "fine\n# a comment\nbad = a.*b\n\n(open\n"

    expect(readPatternFile(file)).toEqual({
      ok: false,
      failure: [
        expect.stringMatching(/^line 3: .*a\.\{0,200\}b/),
        expect.stringMatching(/^line 5:/),
      ],
    })
  })

  test("with very many wrong ones says how many more there are", () => {
    const told = readPatternFile("(\n".repeat(12))

    expect(told.ok ? [] : told.failure.slice(-1)).toEqual(["and 2 more lines"])
  })
})

describe("words beside each other", () => {
  test("keep their places, also where a match goes from one to the next", () => {
    const redaction = readPatternFile("token = --token \\S+\nsk-\\S+\n\\szz")
    if (!redaction.ok || redaction.value === null) throw new Error("no patterns")
    const words = ["curl", "--token", "abc", "x sk-é é", "zz", "", "--token"]

    expect(redaction.value.words(words)).toEqual({
      words: ["curl", "[redacted:token]", "", "x [redacted] é", "[redacted]", "", "--token"],
      count: 3,
    })
    expect(redaction.value.words(["", "a"])).toEqual({ words: ["", "a"], count: 0 })
  })
})
