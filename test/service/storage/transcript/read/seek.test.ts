import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Budget } from "../../../../../src/execution/spec.ts"
import {
  bytesOf,
  executionId,
  noon,
  piecesFrom,
  roomy,
  start,
  temporaryTranscripts,
  textOf,
} from "../temporary-transcripts.ts"

const segmented: Budget = { bytes: 1024, lines: null, policy: "block" } // segments of 64 bytes

function tailOf(text: string, lines: number, budget = roomy): string {
  using transcripts = temporaryTranscripts()
  using writer = transcripts.store.create(executionId, budget, () => {})
  writer.append("stdout", bytesOf(text), noon)
  writer.appendResize({ cols: 80, rows: 24 }, noon)
  const facts = writer.facts()
  const position = transcripts.reader.tail(executionId, facts, { lines })
  return textOf(piecesFrom(transcripts.reader, position, facts))
}

describe("the tail", () => {
  test("begins at a line's beginning, so many lines before the end", () => {
    expect(tailOf("one\ntwo\nthree\n", 2)).toBe("two\nthree\n")
    expect(tailOf("one\ntwo\nthree\n", 1)).toBe("three\n")
  })

  test("counts an unfinished last line as a line", () => {
    expect(tailOf("one\ntwo\nthr", 2)).toBe("two\nthr")
    expect(tailOf("one\ntwo\nthr", 1)).toBe("thr")
  })

  test("of no lines is nothing, and of more than there are is everything", () => {
    expect(tailOf("one\ntwo\n", 0)).toBe("")
    expect(tailOf("one\ntwo\n", 3)).toBe("one\ntwo\n")
    expect(tailOf("no line end", 5)).toBe("no line end")
    expect(tailOf("", 5)).toBe("")
  })

  test("is what `tail -n` shows, wherever segments begin", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "\n"), maxLength: 600 })
    fc.assert(
      fc.property(text, fc.nat(30), (any, lines) => {
        const ended = any.endsWith("\n") || any === "" ? any : `${any}\n`
        const all = ended.split("\n").slice(0, -1)
        const expected = `${all.slice(Math.max(0, all.length - lines)).join("\n")}\n`
        const shown = lines === 0 || all.length === 0 ? "" : expected
        expect(tailOf(any, lines, segmented)).toBe(any === ended ? shown : shown.slice(0, -1))
      }),
      { numRuns: 150 },
    )
  })

  test("by bytes is what `tail -c` shows, wherever segments begin", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "\n"), maxLength: 600 })
    fc.assert(
      fc.property(text, fc.nat(700), (any, bytes) => {
        using transcripts = temporaryTranscripts()
        using writer = transcripts.store.create(executionId, segmented, () => {})
        writer.append("stdout", bytesOf(any), noon)
        writer.appendResize({ cols: 80, rows: 24 }, noon)
        const facts = writer.facts()

        const position = transcripts.reader.tail(executionId, facts, { bytes })

        const from = Math.max(0, any.length - bytes)
        expect(textOf(piecesFrom(transcripts.reader, position, facts))).toBe(any.slice(from))
        expect(position.sequence).toBe(from)
        expect(position.lines).toBe(any.slice(0, from).split("\n").length - 1)
      }),
      { numRuns: 150 },
    )
  })

  test("has exact lines before it, from which a gap can be told", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, segmented, () => {})
    for (let count = 0; count < 50; count += 1) {
      writer.append(count % 2 === 0 ? "stdout" : "stderr", bytesOf("ten bytes\n"), noon)
    }

    const position = transcripts.reader.tail(executionId, writer.facts(), { lines: 7 })

    expect(position).toMatchObject({ lines: 43, sequence: 430, inside: 0 })
  })

  test("is all that is kept where that is less", () => {
    using transcripts = temporaryTranscripts()
    const budget = { ...segmented, policy: "drop-oldest" as const }
    using writer = transcripts.store.create(executionId, budget, () => {})
    for (let count = 0; count < 500; count += 1)
      writer.append("stdout", bytesOf("ten bytes\n"), noon)

    const facts = writer.facts()
    const position = transcripts.reader.tail(executionId, facts, { lines: 400 })

    expect(position).toEqual({ ...facts.start, inside: 0 })
  })
})

describe("the first record since a time", () => {
  test("is found in any segment", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, segmented, () => {})
    for (let second = 0; second < 100; second += 1) {
      writer.append("stdout", bytesOf("ten bytes\n"), new Date(second * 1000))
    }
    const facts = writer.facts()
    const since = (timeMs: number) => transcripts.reader.since(executionId, facts, new Date(timeMs))

    expect(since(0)).toMatchObject({ sequence: 0, lines: 0 })
    for (let second = 1; second < 100; second += 1) {
      const expected = { sequence: second * 10, lines: second, inside: 0 }
      expect(since(second * 1000)).toMatchObject(expected)
      expect(since(second * 1000 - 1)).toMatchObject(expected)
      const [piece] = piecesFrom(transcripts.reader, since(second * 1000), facts)
      expect(piece?.timeMs).toBe(second * 1000)
    }
    expect(since(99_001)).toEqual({ ...facts.end, inside: 0 })
  })

  test("is the start of a transcript without output", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, segmented, () => {})

    expect(transcripts.reader.since(executionId, writer.facts(), noon)).toEqual(start)
  })
})
