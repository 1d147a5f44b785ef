import { describe, expect, test } from "bun:test"
import { newestOutput } from "../../src/mcp/newest-output.ts"
import { scopeOf } from "./scripted-output.ts"

const encoder = new TextEncoder()

describe("the newest lines", () => {
  test("are the last ones, and say where they begin", async () => {
    expect(await newest(["one\n", "two\n", "three\n"], 2, 100)).toMatchObject({
      text: "two\nthree\n",
      sequence: 4,
      isCut: false,
      ended: true,
    })
  })

  test("lose their beginning when they are too long, by whole characters", async () => {
    const { text, isCut, sequence } = await newest([`${"é".repeat(50)}\n`], 1, 10)

    expect(text).toBe("éééé\n")
    expect(isCut).toBe(true)
    expect(sequence).toBe(92)
  })

  test("are found at the end of very much", async () => {
    const pieces = Array.from({ length: 40 }, (_, at) => `${String(at).repeat(50_000)}|`)

    const { text } = await newest([...pieces, "the end\n"], 1, 1000)

    expect(text).toEndWith("|the end\n")
    expect(text).toHaveLength(1000)
  })
})

async function newest(pieces: readonly string[], lines: number, mostBytes: number) {
  const written = pieces.map((text) => ({ stream: "stdout" as const, bytes: encoder.encode(text) }))
  const read = await newestOutput(scopeOf(written), "a", { lines, mostBytes, stream: null })
  if (!read.ok) throw new Error(read.failure.message)
  return read.value
}
