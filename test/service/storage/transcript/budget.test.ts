import { describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import type { TranscriptFacts } from "../../../../src/execution/record.ts"
import type { Budget } from "../../../../src/execution/spec.ts"
import {
  bytesOf,
  bytesOnDisk,
  countOf,
  executionId,
  noon,
  piecesFrom,
  start,
  type TemporaryTranscripts,
  temporaryTranscripts,
  textOf,
} from "./temporary-transcripts.ts"

const line = (number: number) => `${String(number).padStart(9, "0")}\n` // ten bytes

function lines(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => line(from + index))
}

function segmentsOf(transcripts: TemporaryTranscripts): string[] {
  return readdirSync(join(transcripts.directory, executionId)).toSorted()
}

describe("drop-oldest", () => {
  const budget: Budget = { bytes: 1024, lines: null, policy: "drop-oldest" }

  test("keeps the newest output within the budget and counts what went, exactly", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, budget, () => {})
    const all = lines(0, 20_000) // whose files are more than the budget allows

    for (const text of all) writer.append("stdout", bytesOf(text), noon)

    const facts = writer.facts()
    const kept = textOf(piecesFrom(transcripts.reader, { ...facts.start, inside: 0 }, facts))
    expect(kept.length).toBeLessThanOrEqual(1024)
    expect(kept.length).toBeGreaterThan(1024 - 2 * 64)
    expect(all.join("").endsWith(kept)).toBe(true)
    expect(facts.dropped).toEqual(countOf(all.join("").slice(0, -kept.length)))
    expect(facts.stdout).toEqual(countOf(all.join("")))
  })

  test("tells a reader that stood in what was forgotten where output goes on", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, budget, () => {})
    for (const text of lines(0, 7)) writer.append("stdout", bytesOf(text), noon)
    const [piece] = piecesFrom(transcripts.reader, start, writer.facts())
    const position = piece?.next ?? start
    for (const text of lines(7, 500)) writer.append("stdout", bytesOf(text), noon)

    const facts = writer.facts()
    const outcome = transcripts.reader.read(executionId, position, facts)

    const next = { ...facts.start, inside: 0 }
    expect(outcome).toEqual({ kind: "forgotten", next })
    expect(next.sequence - position.sequence).toBe((next.lines - position.lines) * 10)
    expect(textOf(piecesFrom(transcripts.reader, next, facts))).toStartWith(line(next.lines))
  })

  test("journals before it unlinks", () => {
    using transcripts = temporaryTranscripts()
    const told: TranscriptFacts[] = []
    const wereThere: boolean[] = []
    const pathOf = (segment: number) =>
      join(transcripts.directory, executionId, `${String(segment).padStart(8, "0")}.seg`)
    using writer = transcripts.store.create(executionId, budget, (facts) => {
      told.push(facts)
      wereThere.push(existsSync(pathOf(facts.start.segment - 1)))
    })

    for (const text of lines(0, 200)) writer.append("stdout", bytesOf(text), noon)

    expect(told.length).toBeGreaterThan(10)
    expect(wereThere.every(Boolean)).toBe(true)
    expect(told.at(-1)?.start).toEqual(writer.facts().start)
    expect(existsSync(pathOf(writer.facts().start.segment - 1))).toBe(false)
    expect(existsSync(pathOf(writer.facts().start.segment))).toBe(true)
  })

  test("keeps as many lines as it may, when lines are what is counted", () => {
    using transcripts = temporaryTranscripts()
    const byLines = { bytes: 1024 * 1024, lines: 32, policy: "drop-oldest" as const }
    using writer = transcripts.store.create(executionId, byLines, () => {})
    const all = lines(0, 300).join("")

    writer.append("stdout", bytesOf(all), noon)

    const facts = writer.facts()
    expect(facts.end.lines - facts.start.lines).toBe(32)
    expect(facts.dropped).toEqual({ bytes: 2680, lines: 268 })
    expect(textOf(piecesFrom(transcripts.reader, { ...facts.start, inside: 0 }, facts))).toBe(
      all.slice(-320),
    )
  })

  test("keeps a single line, and what of the next is there", () => {
    using transcripts = temporaryTranscripts()
    const one = { bytes: 1024 * 1024, lines: 1, policy: "drop-oldest" as const }
    using writer = transcripts.store.create(executionId, one, () => {})

    writer.append("stdout", bytesOf("first\nsecond\nthird"), noon)

    const facts = writer.facts()
    expect(textOf(piecesFrom(transcripts.reader, { ...facts.start, inside: 0 }, facts))).toBe(
      "second\nthird",
    )
    expect(facts.dropped).toEqual(countOf("first\n"))
  })

  test("bounds the files too, where records are tiny or hold no output", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, budget, () => {})

    for (let count = 0; count < 30_000; count += 1) writer.appendResize({ cols: 1, rows: 1 }, noon)

    expect(bytesOnDisk(transcripts.directory)).toBeLessThan(1.2 * 1024 * 1024)
    expect(writer.facts().dropped).toEqual({ bytes: 0, lines: 0 })
  })

  test("costs a few files, not thousands, when one read is far more than the budget", () => {
    using transcripts = temporaryTranscripts()
    const tiny = { bytes: 1024, lines: 2, policy: "drop-oldest" as const }
    let told = 0
    using writer = transcripts.store.create(executionId, tiny, () => {
      told += 1
    })

    writer.append("stderr", bytesOf("before\n"), noon)
    writer.append("stdout", new Uint8Array(64 * 1024).fill(0x0a), noon)
    writer.append("stdout", bytesOf("after"), noon)

    const facts = writer.facts()
    expect(told).toBeLessThan(5)
    expect(facts.end.segment).toBeLessThan(10)
    expect(facts.dropped).toEqual({ bytes: 7 + 64 * 1024 - 2, lines: 1 + 64 * 1024 - 2 })
    expect(facts.stdout).toEqual({ bytes: 64 * 1024 + 5, lines: 64 * 1024 })
    expect(textOf(piecesFrom(transcripts.reader, { ...facts.start, inside: 0 }, facts))).toBe(
      "\n\nafter",
    )
  })

  test("hashes and chains also what never was on disk", async () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, budget, () => {})
    const text = lines(0, 20_000).join("")

    writer.append("stdout", bytesOf(text), noon)

    const hashes = writer.hashes()
    const facts = writer.facts()
    expect(hashes.stdout).toBe(createHash("sha256").update(text).digest("hex"))
    expect(await transcripts.reader.verify(executionId, facts, { hashes })).toEqual({
      chain: { kind: "intact-from", sequence: facts.start.sequence },
      found: null,
    })
    expect(transcripts.store.recover(executionId)).toEqual({
      facts,
      hashes: null,
      truncatedBytes: 0,
    })
  })

  test("keeps the exact end of anything written under any budget", () => {
    const piece = fc.record({
      stream: fc.constantFrom("stdout" as const, "stderr" as const),
      text: fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 2000 }),
    })
    const budgets = fc.record({
      bytes: fc.integer({ min: 1024, max: 4096 }),
      lines: fc.option(fc.integer({ min: 1, max: 100 }), { nil: null }),
      policy: fc.constant("drop-oldest" as const),
    })

    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), budgets, (pieces, anyBudget) => {
        using transcripts = temporaryTranscripts()
        let told = 0
        using writer = transcripts.store.create(executionId, anyBudget, (facts) => {
          told = facts.dropped.bytes
        })
        for (const { stream, text } of pieces) writer.append(stream, bytesOf(text), noon)

        const facts = writer.facts()
        const all = pieces.map(({ text }) => text).join("")
        const kept = textOf(piecesFrom(transcripts.reader, { ...facts.start, inside: 0 }, facts))
        expect(kept).toBe(all.slice(facts.start.sequence))
        expect(facts.dropped).toEqual(countOf(all.slice(0, facts.start.sequence)))
        expect(told).toBe(facts.dropped.bytes)
        expect(kept.length).toBeLessThanOrEqual(anyBudget.bytes)
        expect(countOf(kept).lines).toBeLessThanOrEqual(anyBudget.lines ?? Infinity)
      }),
      { numRuns: 60 },
    )
  })
})

describe("block", () => {
  const budget: Budget = { bytes: 256 * 1024, lines: null, policy: "block" }

  test("forgets nothing by itself and says when it is full", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, budget, () => {
      throw new Error("forgot")
    })
    const read = new Uint8Array(64 * 1024)

    let appends = 0
    while (!writer.isFull()) {
      writer.append("stdout", read, noon)
      appends += 1
    }

    expect(appends).toBe(4)
    expect(writer.facts().start.sequence).toBe(0)
  })

  test("has room again when what was taken is forgotten, whole segments of it", () => {
    using transcripts = temporaryTranscripts()
    const told: TranscriptFacts[] = []
    using writer = transcripts.store.create(executionId, budget, (facts) => told.push(facts))
    for (let number = 0; number < 4; number += 1) {
      writer.append("stdout", new Uint8Array(64 * 1024), noon)
    }

    const position = { segment: 0, offset: 0, sequence: 100_000, lines: 0 }
    writer.forgetBefore(position)

    const facts = writer.facts()
    expect(writer.isFull()).toBe(false)
    expect(facts.start.sequence).toBeLessThanOrEqual(100_000)
    expect(facts.start.sequence).toBeGreaterThan(100_000 - 16 * 1024)
    expect(told.at(-1)).toEqual(facts)
    expect(facts.dropped.bytes).toBe(facts.start.sequence)
  })

  test.each([
    { bytes: 1024, lines: null },
    { bytes: 1024, lines: 1 },
    { bytes: 1024 * 1024, lines: 1 },
    { bytes: 100_000, lines: 3 },
  ])("never waits for ever once everything is taken: %o", (tiny) => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, { ...tiny, policy: "block" }, () => {})
    const all: string[] = []
    let position = start

    for (let number = 0; number < 200; number += 1) {
      if (writer.isFull()) {
        const pieces = piecesFrom(transcripts.reader, position, writer.facts())
        all.push(textOf(pieces))
        position = pieces.at(-1)?.next ?? position
        writer.forgetBefore(position)
      }
      expect(writer.isFull()).toBe(false)
      writer.append("stdout", bytesOf(line(number)), noon)
    }
    all.push(textOf(piecesFrom(transcripts.reader, position, writer.facts())))

    expect(all.join("")).toBe(lines(0, 200).join(""))
    expect(segmentsOf(transcripts).length).toBeLessThan(20)
  })

  test("a reader at the end of a forgotten segment goes on without a gap", () => {
    using transcripts = temporaryTranscripts()
    const one = { bytes: 1024, lines: 1, policy: "block" as const }
    using writer = transcripts.store.create(executionId, one, () => {})
    writer.append("stdout", bytesOf("first\n"), noon)
    const position = piecesFrom(transcripts.reader, start, writer.facts()).at(-1)?.next ?? start
    writer.forgetBefore(position)
    writer.append("stdout", bytesOf("second\n"), noon)

    const outcome = transcripts.reader.read(executionId, position, writer.facts())

    expect(writer.facts().start.segment).toBeGreaterThan(position.segment)
    expect(outcome).toMatchObject({ kind: "piece", piece: { sequence: 6 } })
  })
})
