import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { StreamName } from "../../src/execution/record.ts"
import { readPage } from "../../src/mcp/output-page.ts"
import type { McpScope } from "../../src/mcp/ports.ts"
import { scopeOf, type Written } from "./scripted-output.ts"

const encoder = new TextEncoder()

const bytes = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 40 }).map((some) => encoder.encode(some)),
  fc.uint8Array({ minLength: 1, maxLength: 40 }),
)
const written = fc.array(
  fc.record({ stream: fc.constantFrom<StreamName>("stdout", "stderr"), bytes }),
  { maxLength: 12 },
)

describe("output, page by page", () => {
  test("is what was written, however small the pages are", async () => {
    await fc.assert(
      fc.asyncProperty(written, fc.integer({ min: 4, max: 60 }), async (pieces, mostBytes) => {
        const whole = text(pieces.filter(({ stream }) => stream === "stdout"))
        const oneStream = pieces.map(({ bytes: piece }) => ({
          stream: "stdout" as const,
          bytes: piece,
        }))

        expect(await pages(scopeOf(pieces), "stdout", mostBytes)).toBe(whole)
        expect(await pages(scopeOf(oneStream), null, mostBytes)).toBe(text(oneStream))
      }),
    )
  })

  test("never shows more than was asked for", async () => {
    const pieces = [{ stream: "stdout" as const, bytes: encoder.encode("é".repeat(5000)) }]

    const page = await read(scopeOf(pieces), "start", null, 1001)

    expect(encoder.encode(page.text)).toHaveLength(1000)
    expect(page).toMatchObject({ hasMore: true, ended: false, sequence: 1000 })
  })

  test("is cut after a line where one ends in time", async () => {
    const lines = "one line\nanother line\nand a third\n"
    const pieces = [{ stream: "stdout" as const, bytes: encoder.encode(lines) }]

    const page = await read(scopeOf(pieces), "start", null, 28)

    expect(page.text).toBe("one line\nanother line\n")
  })

  test("keeps back the beginning of a character until the rest is there", async () => {
    const [first = 0, second = 0] = encoder.encode("é")
    const before = [{ stream: "stdout" as const, bytes: Uint8Array.of(0x61, first) }]
    const after = [...before, { stream: "stdout" as const, bytes: Uint8Array.of(second, 0x62) }]

    const early = await read(scopeOf(before, { ended: false }), "start", null, 100)
    const late = await read(scopeOf(after), early.next, null, 100)

    expect(early).toMatchObject({ text: "a", hasMore: false, ended: false })
    expect(late).toMatchObject({ text: "éb", ended: true })
  })
})

function text(pieces: readonly Written[]): string {
  return Buffer.concat(pieces.map(({ bytes: piece }) => piece)).toString("utf8")
}

async function read(scope: McpScope, from: string, stream: StreamName | null, mostBytes: number) {
  const page = await readPage(scope, { executionId: "a", from, stream, mostBytes })
  if (!page.ok) throw new Error(page.failure.message)
  return page.value
}

async function pages(scope: McpScope, stream: StreamName | null, mostBytes: number) {
  let all = ""
  let from = "start"
  for (let count = 0; count < 1000; count++) {
    const page = await read(scope, from, stream, mostBytes)
    expect(encoder.encode(page.text).length).toBeLessThanOrEqual(mostBytes * 3) // U+FFFD is longer
    all += page.text
    if (page.ended) return all
    from = page.next
  }
  throw new Error("the pages do not come to an end")
}
