import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { searchOutput } from "../../src/mcp/search-output.ts"
import { compileLinePattern } from "../../src/redaction/line-pattern.ts"
import { scopeOf, type Written } from "./scripted-output.ts"

describe("a search through output", () => {
  test("finds what grep finds, however the output is cut into pieces", async () => {
    const line = fc.string({ unit: fc.constantFrom("a", "b", " "), maxLength: 6 })
    const lines = fc.array(line, { maxLength: 20 })
    const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(lines, cuts, fc.integer({ min: 0, max: 3 }), async (all, sizes, around) => {
        const pieces = cutUp(all.map((text) => `${text}\n`).join(""), sizes)

        const found = await search(pieces, "ab", around)

        expect(found.text).toBe(grep(all, /ab/, around))
        expect(found.matches).toBe(all.filter((text) => text.includes("ab")).length)
        expect(found.isComplete).toBe(true)
      }),
    )
  })

  test("stops where its answer is long enough, and goes on from there", async () => {
    const all = Array.from({ length: 100 }, (_, at) => `match ${at}`)
    const pieces = cutUp(all.map((text) => `${text}\n`).join(""), [100, 200, 300])

    const first = await search(pieces, "match", 0, { mostBytes: 100 })
    const second = await search(pieces, "match", 0, { from: first.next })

    expect(first.isComplete).toBe(false)
    expect(first.matches + second.matches).toBe(100)
    expect(second.text).toStartWith(`1:match ${first.matches}`)
  })

  test("takes a line without an end for one", async () => {
    expect(await search(cutUp("one\ntwo", []), "two", 0)).toMatchObject({ text: "2:two" })
  })

  test("shows only the beginning of a very long line", async () => {
    const { text } = await search(cutUp(`match ${"x".repeat(5000)}\n`, []), "match", 0)

    expect(text.length).toBeLessThan(500)
    expect(text).toEndWith("…")
  })
})

type Wanted = { from?: string; mostBytes?: number }

async function search(
  pieces: Written[],
  pattern: string,
  contextLines: number,
  wanted: Wanted = {},
) {
  const compiled = compileLinePattern(pattern)
  if (!compiled.ok) throw new Error(compiled.failure)
  const found = await searchOutput(scopeOf(pieces), {
    executionId: "a",
    from: wanted.from ?? "start",
    stream: null,
    pattern: compiled.value,
    contextLines,
    mostBytes: wanted.mostBytes ?? 100_000,
    signal: new AbortController().signal,
  })
  if (!found.ok) throw new Error(found.failure.message)
  return found.value
}

function cutUp(text: string, sizes: readonly number[]): Written[] {
  const bytes = new TextEncoder().encode(text)
  const pieces: Written[] = []
  let at = 0
  for (const size of sizes) {
    if (at >= bytes.length) break
    pieces.push({ stream: "stdout", bytes: bytes.subarray(at, at + size) })
    at += size
  }
  if (at < bytes.length) pieces.push({ stream: "stdout", bytes: bytes.subarray(at) })
  return pieces
}

/** What `grep -n -C` says, told independently. */
function grep(lines: readonly string[], pattern: RegExp, around: number): string {
  const isMatch = lines.map((line) => pattern.test(line))
  const isShown = lines.map((_, at) =>
    isMatch.some((matches, other) => matches && Math.abs(other - at) <= around),
  )
  const shown: string[] = []
  let last = -1
  for (const [at, line] of lines.entries()) {
    if (isShown[at] !== true) continue
    if (last >= 0 && at > last + 1) shown.push("--")
    shown.push(`${at + 1}${isMatch[at] === true ? ":" : "-"}${line}`)
    last = at
  }
  return shown.join("\n")
}
