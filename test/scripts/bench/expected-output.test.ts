import { describe, expect, test } from "bun:test"
import { ExpectedOutput } from "../../../scripts/bench/expected-output.ts"

const output = Buffer.from("1\n2\n3\n")

describe("a client that checks what it gets", () => {
  test("is satisfied by the same output in any pieces, as text, bytes or lines", () => {
    const text = new ExpectedOutput(output)
    text.takeText("1\n2")
    text.takeText("\n3\n")
    const bytes = new ExpectedOutput(output)
    bytes.takeBytes(Buffer.from("1\n2\n"))
    bytes.takeBytes(Buffer.from("3\n"))
    const lines = new ExpectedOutput(output)
    for (const line of ["1", "2", "3"]) lines.takeLine(line)

    expect([text.isComplete, bytes.isComplete, lines.isComplete]).toEqual([true, true, true])
  })

  test("knows what `seq` writes", () => {
    const sequence = ExpectedOutput.ofSequence(3)

    sequence.takeText("1\n2\n3\n")

    expect(sequence.isComplete).toBe(true)
  })

  test("misses a last line that does not come", () => {
    const lines = new ExpectedOutput(output)

    lines.takeLine("1")
    lines.takeLine("2")

    expect(lines.isComplete).toBe(false)
  })

  test("can take the same output again", () => {
    const lines = new ExpectedOutput(output)
    lines.takeLine("1")

    lines.startOver()

    expect(() => lines.takeLine("1")).not.toThrow()
  })

  test.each([
    ["a lost line", (expected: ExpectedOutput) => expected.takeText("1\n3\n")],
    ["a lost byte", (expected: ExpectedOutput) => expected.takeBytes(Buffer.from("1\n\n"))],
    ["a line twice", (expected: ExpectedOutput) => expected.takeBytes(Buffer.from("1\n1\n"))],
    ["half a line", (expected: ExpectedOutput) => expected.takeLine("")],
    ["more than there was", (expected: ExpectedOutput) => expected.takeText("1\n2\n3\n4\n")],
    ["more bytes", (expected: ExpectedOutput) => expected.takeBytes(Buffer.from("1\n2\n3\n4\n"))],
  ])("does not accept %s", (_, take) => {
    expect(() => take(new ExpectedOutput(output))).toThrow("not what was written")
  })
})
