import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { compileLinePattern } from "../../../src/lib/pattern/line-pattern.ts"

describe("a pattern that looks for lines", () => {
  test.each([
    ["error", "an error occurred", true],
    ["error", "all is well", false],
    ["(?i)error", "ERROR: no", true],
    ["^FAIL", "FAIL test.ts", true],
    ["^FAIL", "a FAIL", false],
    ["done$", "it is done", true],
    ["done$", "done it is", false],
    ["^ok$", "ok", true],
    ["^ok$", "ok.", false],
    ["error.*timeout", "error: there was a timeout", true],
    ["error.*timeout", "timeout: there was an error", false],
    ["exit code [1-9]\\d*", "exit code 12", true],
    ["exit code [1-9]\\d*", "exit code 0", false],
    ["a|b$|^c", "c", true],
    ["é+", "caféé", true],
    ["^\\s+at ", "    at main.ts:1", true],
  ])("%s in %j: %p", (pattern, line, expected) => {
    expect(matches(pattern, line)).toBe(expected)
  })

  test.each([
    ["a*", "it matches the empty text"],
    ["(", "not closed"],
    ["(?=x)", "after `(?` only"],
    ["x{3000}", "3000 bytes long"],
  ])("cannot be %s: %s", (pattern, why) => {
    const compiled = compileLinePattern(pattern)
    expect(compiled.ok ? "" : compiled.failure).toContain(why)
  })

  test("says what a backtracking engine says", () => {
    const part = fc.constantFrom(
      "a",
      "b",
      "ab",
      ".",
      "[ab]",
      "a+",
      "(a|bb)",
      "(ab)*c",
      "b?a",
      ".*c",
    )
    const pattern = fc
      .tuple(fc.boolean(), fc.array(part, { minLength: 1, maxLength: 5 }), fc.boolean())
      .map(([begins, parts, ends]) => `${begins ? "^" : ""}${parts.join("")}x${ends ? "$" : ""}`)
    const line = fc.string({ unit: fc.constantFrom("a", "b", "c", "x"), maxLength: 30 })
    fc.assert(
      fc.property(pattern, line, (text, given) => {
        expect(matches(text, given)).toBe(new RegExp(text).test(given))
      }),
    )
  })

  test("is not slowed down by what ruins a backtracking engine", () => {
    expect(matches("(a+)+$", `${"a".repeat(60_000)}b`)).toBe(false)
  })

  test("forgets states it has too many of, and still finds its line", () => {
    const noise = Array.from({ length: 60_000 }, (_, at) => "ab"[((at * at * 31) % 7) % 2]).join("")
    expect(matches("a.{14}c", `${noise}a${"b".repeat(14)}c`)).toBe(true)
    expect(matches("a.{14}c", noise)).toBe(false)
  })
})

function matches(pattern: string, line: string): boolean {
  const compiled = compileLinePattern(pattern)
  if (!compiled.ok) throw new Error(compiled.failure)
  return compiled.value.matches(new TextEncoder().encode(line))
}
