import { describe, expect, test } from "bun:test"
import { readConsole, readScript } from "./console-block.ts"
import { parseDocument } from "./document.ts"

const parse = (text: string) => parseDocument("a.md", text).blocks

describe("a block", () => {
  test("is found with its language, its section and the comments before it", () => {
    const text = "# A\n\n## B\n\n<!-- given: service -->\n<!-- exit code: 3 -->\n\n```sh\nls\n```\n"

    expect(parse(text)).toMatchObject([
      { line: 8, section: "B", language: "sh", text: "ls\n", comments: { exitCode: 3 } },
    ])
    expect(parse(text)[0]?.comments.given).toEqual(["service"])
  })

  test("is not meant by a comment with words in between", () => {
    expect(parse("<!-- exit code: 3 -->\n\nwords\n\n```sh\nls\n```\n")[0]?.comments.exitCode).toBe(
      0,
    )
  })

  test("in a list loses the list's indentation", () => {
    expect(parse("- a\n\n  ```sh\n  if x\n    y\n  ```\n")[0]?.text).toBe("if x\n  y\n")
  })

  test.each([
    "<!-- exit-code: 3 -->",
    "<!-- exit code: three -->",
    "<!-- given: nobody -->",
    "<!-- not run -->",
    "<!-- some note -->",
  ])("with %s before it is refused: nobody would see that it does nothing", (comment) => {
    expect(() => parse(`${comment}\n\n\`\`\`sh\nls\n\`\`\`\n`)).toThrow("nobody understands")
  })

  test("without an end is refused", () => {
    expect(() => parse("```sh\nls\n")).toThrow("has no end")
  })
})

describe("what was typed", () => {
  test("is told from what came, over lines and with Ctrl-C", () => {
    expect(readConsole("$ a \\\n    b\nout\n$ c <<E\n> d\n> E\n$ e\nf\n^C\n")).toEqual([
      { command: "a \\\n    b", shown: ["out"], interrupted: false },
      { command: "c <<E\nd\nE", shown: [], interrupted: false },
      { command: "e", shown: ["f"], interrupted: true },
    ])
  })

  test("comes before all output, and after Ctrl-C comes no more", () => {
    expect(() => readConsole("out\n")).toThrow("before any command")
    expect(() => readConsole("$ a\n^C\nout\n")).toThrow("after ^C")
  })

  test("in a script is a command by line, without comments", () => {
    expect(readScript("# first\na \\\n  b\n\nc\n")).toEqual(["a \\\n  b", "c"])
  })
})
