import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { StreamName } from "../../../../../src/execution/record.ts"
import {
  type Missing,
  readPage,
} from "../../../../../src/service/transports/mcp/output/output-page.ts"
import type { McpScope } from "../../../../../src/service/transports/mcp/ports.ts"
import { StagedExecution } from "../../../../support/staged-execution.ts"
import { bytesOf, scopeAround, writeAll } from "../staged-scope.ts"

const encoder = new TextEncoder()

const someBytes = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 40 }).map((text) => encoder.encode(text)),
  fc.uint8Array({ minLength: 1, maxLength: 40 }),
)
const stream = fc.constantFrom<StreamName>("stdout", "stderr")
const written = fc.array(fc.record({ stream, bytes: someBytes }), { maxLength: 12 })

describe("output, page by page", () => {
  test("is what was written, however small the pages are", async () => {
    await fc.assert(
      fc.asyncProperty(written, fc.integer({ min: 4, max: 60 }), async (pieces, mostBytes) => {
        using staged = new StagedExecution()
        writeAll(staged, pieces)
        staged.end()
        const scope = scopeAround(staged)

        for (const only of ["stdout", "stderr"] as const) {
          const expected = bytesOf(pieces, only).toString("utf8")
          expect(await pages(scope, staged.id, only, mostBytes)).toBe(expected)
        }
        const both = await pages(scope, staged.id, null, mostBytes)
        const length = (text: string) => text.length
        const apart = bytesOf(pieces, "stdout").toString() + bytesOf(pieces, "stderr").toString()
        expect(length(both)).toBe(length(apart)) // no character is torn by the other stream
      }),
    )
  })

  test("never shows more than was asked for, and says how far it has come", async () => {
    using staged = new StagedExecution()
    staged.write("é".repeat(5000))

    const page = await read(scopeAround(staged), staged.id, "start", null, 1001)

    expect(encoder.encode(page.text)).toHaveLength(1000)
    expect(page).toMatchObject({ hasMore: true, ended: false, sequence: 1000 })
  })

  test("is cut after a line where one ends in time", async () => {
    using staged = new StagedExecution()
    staged.write("one line\nanother line\nand a third\n")

    const page = await read(scopeAround(staged), staged.id, "start", null, 28)

    expect(page.text).toBe("one line\nanother line\n")
  })

  test("goes on where it was, after a start so many lines before the end", async () => {
    using staged = new StagedExecution()
    staged.write(lines(1, 100))
    const scope = scopeAround(staged)

    const first = await read(scope, staged.id, "tail:50", null, 100)
    staged.write(lines(101, 500))
    const second = await read(scope, staged.id, first.next, null, 10_000)

    expect(first.text + second.text).toBe(lines(51, 500))
  })

  test("says exactly what was dropped between two pages", async () => {
    using staged = new StagedExecution({ bytes: 16 * 1024 })
    staged.write(lines(1, 1000))
    const scope = scopeAround(staged)
    const first = await read(scope, staged.id, "start", null, 500)

    for (let at = 1001; at < 20_000; at += 1000) staged.write(lines(at, at + 999))
    staged.end()
    let rest = ""
    let missing: Missing = { bytes: 0, lines: 0 }
    for (let from = first.next; ; ) {
      const page = await read(scope, staged.id, from, null, 5000)
      rest += page.text
      if (page.gap !== null) missing = page.gap
      if (page.ended) break
      from = page.next
    }

    const all = lines(1, 20_000)
    const lost = all.slice(first.text.length, all.length - rest.length)
    expect(first.text + lost + rest).toBe(all)
    expect(missing).toEqual({ bytes: lost.length, lines: lost.split("\n").length - 1 })
    expect(missing.bytes).toBeGreaterThan(0)
  })

  test.each(["start@5", "1.0.0@", "nonsense", "1.9.9.9.9.9"])(
    "does not begin at %p",
    async (from) => {
      using staged = new StagedExecution()
      staged.write("some output\n")

      const page = await readPage(scopeAround(staged), {
        executionId: staged.id,
        from,
        stream: null,
        mostBytes: 100,
      })

      expect(page.ok ? "" : page.failure.reason).toBe("INVALID_PARAMS")
    },
  )

  test("of one stream is found behind much of the other", async () => {
    using staged = new StagedExecution({ bytes: 64 * 1024 * 1024 })
    staged.write("first\n", "stderr")
    for (let count = 0; count < 60; count++) staged.write("x".repeat(60_000))
    staged.write("last\n", "stderr")
    staged.end()

    expect(await pages(scopeAround(staged), staged.id, "stderr", 1000)).toBe("first\nlast\n")
  })
})

function lines(first: number, last: number): string {
  return Array.from({ length: last - first + 1 }, (_, at) => `line ${first + at}\n`).join("")
}

async function read(
  scope: McpScope,
  executionId: string,
  from: string,
  only: StreamName | null,
  mostBytes: number,
) {
  const page = await readPage(scope, { executionId, from, stream: only, mostBytes })
  if (!page.ok) throw new Error(page.failure.message)
  return page.value
}

async function pages(scope: McpScope, id: string, only: StreamName | null, mostBytes: number) {
  let all = ""
  let from = "start"
  for (let count = 0; count < 1000; count++) {
    const page = await read(scope, id, from, only, mostBytes)
    all += page.text
    if (page.ended) return all
    from = page.next
  }
  throw new Error("the pages do not come to an end")
}
