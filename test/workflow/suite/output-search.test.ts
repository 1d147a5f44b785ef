import { describe, expect, test } from "bun:test"
import { compileLinePattern } from "../../../src/lib/pattern/line-pattern.ts"
import { OutputSearch } from "../../../src/workflow/suite/output-search.ts"
import type { SuitePattern } from "../../../src/workflow/suite/suite.ts"

const text = (words: string): SuitePattern => ({ kind: "text", text: words })
function regex(words: string): SuitePattern {
  const pattern = compileLinePattern(words)
  if (!pattern.ok) throw new Error(pattern.failure)
  return { kind: "regex", text: words, pattern: pattern.value }
}

function missingIn(
  pieces: readonly (readonly [stream: string, text: string])[],
  patterns: readonly SuitePattern[],
  request: string | null = null,
): string[] {
  const search = new OutputSearch(patterns, request)
  for (const [stream, piece] of pieces) search.push(stream, piece)
  return [...search.end()].map((pattern) => pattern.text)
}

describe("a text", () => {
  test("is found in any case, as it is written, and however it comes in pieces", () => {
    const pieces = [
      ["stdout", "the FIBO"],
      ["stderr", "noise\n"],
      ["stdout", "nacci number is s[::-1]"],
    ] as const

    expect(missingIn(pieces, [text("fibonacci"), text("[::-1]"), text("x")])).toEqual(["x"])
  })

  test("is not put together from two streams, nor over a gap", () => {
    const pieces = [
      ["stdout", "pas"],
      ["stderr", "sed"],
    ] as const
    const search = new OutputSearch([text("passed")], null)
    search.push("stdout", "pas")
    search.cut()
    search.push("stdout", "sed")

    expect(missingIn(pieces, [text("passed")])).toEqual(["passed"])
    expect(search.end().size).toBe(1)
  })

  test("is found in lines of megabytes, wherever it stands", () => {
    for (const before of [0, 262_140, 262_144, 600_000]) {
      const line = `${"x".repeat(before)}needle${"y".repeat(300_000)}`
      const pieces = line.match(/.{1,65536}/gs)?.map((piece) => ["stdout", piece] as const) ?? []

      expect([before, missingIn(pieces, [text("needle")])]).toEqual([before, []])
    }
  })
})

test("what a command has executed is found as it is written", () => {
  const pieces = [["stdout", "12 Passed\n"]] as const
  const executed = (words: string): SuitePattern => ({ kind: "executed", text: words })

  expect(missingIn(pieces, [executed("12 Passed"), executed("12 passed")])).toEqual(["12 passed"])
})

test("a regular expression matches a line, with its ends", () => {
  const pieces = [["stdout", "total: 12 passed\r\n3 failed\n"]] as const

  const missing = missingIn(pieces, [regex("^\\d+ failed$"), regex("\\d+ passed$"), regex("^12")])
  expect(missing).toEqual(["^12"])
})

describe("what only repeats the request", () => {
  const request = "Write a haiku about löops.\nEnd with “MARKER_7”, please."

  test.each([
    ["whole", request],
    ["a line of it", "> you said:\nEnd with “MARKER_7”, please.\n"],
    ["within a line", 'user asked: "End with “MARKER_7”, please." so…'],
    ["as JSON", JSON.stringify({ type: "user", text: request })],
    ["as JSON in ASCII", '{"text": "End with \\u201cMARKER_7\\u201d, please."}'],
    ["with blanks around it", "   End with “MARKER_7”, please.  "],
  ])("is not looked at: %s", (_, output) => {
    expect(missingIn([["stdout", output]], [text("MARKER_7")], request)).toEqual(["MARKER_7"])
  })

  test.each([
    ["the same words by themselves", "…\nMARKER_7"],
    ["an answer behind it", `${request}\n\nA loop goes round.\nMARKER_7\n`],
  ])("is told from an answer: %s", (_, output) => {
    expect(missingIn([["stdout", output]], [text("MARKER_7")], request)).toEqual([])
  })

  test("is nothing that a command was asked", () => {
    expect(missingIn([["stdout", "Testing echo\n"]], [text("testing echo")])).toEqual([])
  })
})
