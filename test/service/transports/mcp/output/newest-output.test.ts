import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { StreamName } from "../../../../../src/execution/record.ts"
import { newestOutput } from "../../../../../src/service/transports/mcp/output/newest-output.ts"
import { StagedExecution } from "../../../../support/staged-execution.ts"
import { scopeAround } from "../staged-scope.ts"

describe("the newest lines", () => {
  test("are what `tail` shows", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "\n"), maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 20 }), async (all, lines) => {
        using staged = new StagedExecution()
        if (all !== "") staged.write(all)

        const { text: shown, isCut } = await newest(staged, { lines })

        const parts = all.split("\n")
        const wanted = all.endsWith("\n") ? lines + 1 : lines
        expect(shown).toBe(parts.slice(Math.max(0, parts.length - wanted)).join("\n"))
        expect(isCut).toBe(false)
      }),
    )
  })

  test("say where they begin, and how far was read", async () => {
    using staged = new StagedExecution()
    staged.write("one\ntwo\nthree\n")
    staged.end()

    expect(await newest(staged, { lines: 2 })).toMatchObject({
      text: "two\nthree\n",
      sequence: 4,
      isCut: false,
      ended: true,
      hasMore: false,
    })
  })

  test("lose their beginning when they are too long, by whole characters", async () => {
    using staged = new StagedExecution()
    staged.write(`${"é".repeat(50)}\n`)

    const { text, isCut, sequence } = await newest(staged, { lines: 1, mostBytes: 10 })

    expect(text).toBe("éééé\n")
    expect(isCut).toBe(true)
    expect(sequence).toBe(92)
  })

  test("are the end of a line that is longer than anybody reads", async () => {
    using staged = new StagedExecution()
    for (let count = 0; count < 1700; count++) staged.write("x".repeat(60_000))
    staged.write("THE-END")
    staged.end()

    const { text, isCut, ended, sequence } = await newest(staged, { lines: 10, mostBytes: 1000 })

    expect(text).toBe(`${"x".repeat(993)}THE-END`)
    expect({ isCut, ended }).toEqual({ isCut: true, ended: true })
    expect(sequence).toBe(1700 * 60_000 + 7 - 1000)
  })

  test("of one stream are found behind much of the other", async () => {
    using staged = new StagedExecution({ bytes: 64 * 1024 * 1024 })
    staged.write("one\ntwo\nthree\n", "stderr")
    for (let count = 0; count < 60; count++) staged.write("x".repeat(60_000))

    const last = await newest(staged, { lines: 2, stream: "stderr" })
    const all = await newest(staged, { lines: 10, stream: "stderr" })

    expect(last).toMatchObject({ text: "two\nthree\n", isCut: false })
    expect(all).toMatchObject({ text: "one\ntwo\nthree\n", isCut: false })
  })
})

type Wanted = { lines: number; mostBytes?: number; stream?: StreamName }

async function newest(staged: StagedExecution, wanted: Wanted) {
  const { lines, mostBytes = 10_000, stream = null } = wanted
  const read = await newestOutput(scopeAround(staged), staged.record, { lines, mostBytes, stream })
  if (!read.ok) throw new Error(read.failure.message)
  return read.value
}
