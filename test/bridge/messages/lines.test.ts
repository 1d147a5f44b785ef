import { describe, expect, test } from "bun:test"
import { Lines } from "../../../src/bridge/messages/lines.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const taken = (lines: Lines, ...pieces: string[]) =>
  pieces.flatMap((piece) => [...lines.take(bytes(piece))])

describe("a stream of bytes", () => {
  test("gives its lines, however they come, and none for empty ones", () => {
    const lines = taken(new Lines(100), "one\ntw", "o\r\n\n", "  \nthree")

    expect(lines).toEqual([
      { kind: "line", text: "one" },
      { kind: "line", text: "two" },
    ])
  })

  test("gives what came after the last newline when it ends", () => {
    const lines = new Lines(100)
    taken(lines, "one\nrest")

    expect(lines.rest()).toEqual({ kind: "line", text: "rest" })
    expect(lines.rest()).toBeNull()
  })

  test("goes on after a line that is too long, and holds nothing of it", () => {
    const lines = taken(new Lines(10), "x".repeat(8), "x".repeat(8), "x".repeat(80), "x\nnext\n")

    expect(lines).toEqual([{ kind: "too-long" }, { kind: "line", text: "next" }])
  })

  test("gives characters whole that were cut", () => {
    const euro = bytes("€\n")
    const lines = new Lines(10)

    const all = [...lines.take(euro.subarray(0, 1)), ...lines.take(euro.subarray(1))]

    expect(all).toEqual([{ kind: "line", text: "€" }])
  })
})
