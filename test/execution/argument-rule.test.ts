import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { readBeginnings, refusedArgument } from "../../src/execution/argument-rule.ts"

const git = { begin: [["status"], ["remote", "-v"]], never: ["-c", "--output*"] }

describe("a rule about arguments", () => {
  test("lets those pass that begin as it says", () => {
    for (const args of [["status"], ["status", "-s"], ["remote", "-v"], ["remote", "-v", "x"]])
      expect(refusedArgument(git, args)).toBeNull()
  })

  test("refuses those that begin otherwise", () => {
    for (const args of [[], ["push"], ["remote"], ["remote", "add"], ["-C", "status"], ["Status"]])
      expect(refusedArgument(git, args)).toContain("must begin with `status`, `remote -v`")
  })

  test("refuses words that may never be there, wherever they are", () => {
    for (const word of ["-c", "--output", "--output=x", "--output-directory"])
      expect(refusedArgument(git, ["status", "x", word])).toContain("must not contain")
    expect(refusedArgument(git, ["status", "-cx", "output"])).toBeNull()
  })
})

describe("a rule in one line", () => {
  test("is a list of beginnings between commas", () => {
    expect(readBeginnings('status, log, "remote -v"')).toEqual([
      ["status"],
      ["log"],
      ["remote", "-v"],
    ])
    expect(readBeginnings("remote -v")).toEqual([["remote", "-v"]])
    expect(readBeginnings("'a, b'")).toEqual([["a,", "b"]])
  })

  test("that could be read in two ways is none", () => {
    for (const text of ["", " ", ",", "a,", ",a", "a,,b", '"a', 'a"b"', '""', '"a" b'])
      expect(readBeginnings(text)).toBeNull()
  })

  test("never becomes a beginning of no words, which would allow everything", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const words of readBeginnings(text) ?? []) expect(words.length).toBeGreaterThan(0)
      }),
    )
  })
})
