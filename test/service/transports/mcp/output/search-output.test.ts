import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { StreamName } from "../../../../../src/execution/record.ts"
import { compileLinePattern } from "../../../../../src/lib/pattern/line-pattern.ts"
import {
  type SearchResult,
  searchOutput,
} from "../../../../../src/service/transports/mcp/output/search-output.ts"
import { StagedExecution } from "../../../../support/staged-execution.ts"
import { scopeAround } from "../staged-scope.ts"

describe("a search through output", () => {
  test("finds what grep finds, however the output is cut into pieces", async () => {
    const line = fc.string({ unit: fc.constantFrom("a", "b", " "), maxLength: 6 })
    const lines = fc.array(line, { maxLength: 20 })
    const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(lines, cuts, fc.integer({ min: 0, max: 3 }), async (all, sizes, around) => {
        using staged = new StagedExecution()
        const text = all.map((one) => `${one}\n`).join("")
        for (const piece of cutUp(text, sizes)) staged.write(piece)

        const found = await search(staged, "ab", { contextLines: around })

        expect(found.text).toBe(grep(all, /ab/, around))
        expect(found.matches).toBe(all.filter((one) => one.includes("ab")).length)
        expect(found.isComplete).toBe(true)
      }),
    )
  })

  test("misses no line and finds none twice, wherever its answers end", async () => {
    const piece = fc.record({
      stream: fc.constantFrom<StreamName>("stdout", "stderr"),
      text: fc.string({ unit: fc.constantFrom("a", "b", "\n"), minLength: 1, maxLength: 12 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 30 }),
        fc.nat(40),
        async (pieces, mostBytes) => {
          using staged = new StagedExecution()
          let matches = 0
          let from = "start"
          for (const [index, { stream, text }] of pieces.entries()) {
            staged.write(text, stream)
            if (index % 5 !== 4) continue
            const found = await search(staged, "ab", { from, mostBytes })
            matches += found.matches
            from = found.next
          }
          staged.end()
          for (let calls = 0; calls < 500; calls++) {
            const found = await search(staged, "ab", { from, mostBytes })
            matches += found.matches
            from = found.next
            if (found.ended) break
          }

          const written = (only: StreamName) =>
            pieces.flatMap(({ stream, text }) => (stream === only ? [text] : [])).join("")
          const lines = [...written("stdout").split("\n"), ...written("stderr").split("\n")]
          expect(matches).toBe(lines.filter((line) => line.includes("ab")).length)
        },
      ),
      { numRuns: 300 },
    )
  })

  test("leaves a line alone that has not ended, and finds it when it has", async () => {
    using staged = new StagedExecution()
    staged.write("ERR")
    const early = await search(staged, "ERROR", {})
    staged.write("OR\n")
    const late = await search(staged, "ERROR", { from: early.next })

    expect(early).toMatchObject({ matches: 0, isComplete: true })
    expect(late).toMatchObject({ matches: 1, text: "1:ERROR" })
  })

  test("takes a line without an end for one when nothing follows", async () => {
    using staged = new StagedExecution()
    staged.write("one\ntwo")
    staged.end()

    expect(await search(staged, "two", {})).toMatchObject({ text: "2:two", ended: true })
  })

  test("takes a very long line for one, and shows its beginning", async () => {
    using staged = new StagedExecution()
    for (let count = 0; count < 40; count++) staged.write("x".repeat(50_000))
    staged.write("x\nend\n")

    const { text, matches } = await search(staged, "x$", {})

    expect(matches).toBe(1)
    expect(text.length).toBeLessThan(500)
    expect(text).toEndWith("…")
  })

  test("lets others have their turn, however slow its pattern is", async () => {
    using staged = new StagedExecution()
    const noise = crypto.getRandomValues(new Uint8Array(60_000))
    for (let count = 0; count < 20; count++) staged.write(noise)
    // By the processor's time: what else the machine does is not the search's doing.
    const busyMs = () => process.cpuUsage().user / 1000
    let longestMs = 0
    let lastMs = busyMs()
    const beat = setInterval(() => {
      longestMs = Math.max(longestMs, busyMs() - lastMs)
      lastMs = busyMs()
    }, 1)

    await search(staged, "[a-z].{300}[0-9].{300}[A-Z].{300}q{100}", {})
    clearInterval(beat)

    // A slice is 4 ms; all of it would be seconds.
    expect(longestMs).toBeLessThan(500)
  }, 60_000)
})

type Wanted = { from?: string; mostBytes?: number; contextLines?: number }

async function search(
  staged: StagedExecution,
  pattern: string,
  { from = "start", mostBytes = 100_000, contextLines = 0 }: Wanted,
): Promise<SearchResult> {
  const compiled = compileLinePattern(pattern)
  if (!compiled.ok) throw new Error(compiled.failure)
  const found = await searchOutput(scopeAround(staged), {
    executionId: staged.id,
    from,
    stream: null,
    pattern: compiled.value,
    contextLines,
    mostBytes,
    signal: new AbortController().signal,
  })
  if (!found.ok) throw new Error(found.failure.message)
  return found.value
}

function cutUp(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = []
  let at = 0
  for (const size of sizes) {
    if (at >= text.length) break
    pieces.push(text.slice(at, at + size))
    at += size
  }
  return at < text.length ? [...pieces, text.slice(at)] : pieces
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
