import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { StreamName } from "../../../../../src/execution/record.ts"
import type { TranscriptWriter } from "../../../../../src/service/keeper/ports.ts"
import { createTranscriptReader } from "../../../../../src/service/storage/transcript/read/reader.ts"
import {
  bytesOf,
  countOf,
  executionId,
  noon,
  piecesFrom,
  roomy,
  start,
  temporaryTranscripts,
  textOf,
} from "../temporary-transcripts.ts"

type Written = { stream: StreamName; text: string }

function write(writer: TranscriptWriter, pieces: Written[]): void {
  for (const { stream, text } of pieces) writer.append(stream, bytesOf(text), noon)
}

function written(pieces: Written[], stream?: StreamName): string {
  return pieces
    .filter((piece) => stream === undefined || piece.stream === stream)
    .map(({ text }) => text)
    .join("")
}

const anyOutput = fc.array(
  fc.record({
    stream: fc.constantFrom("stdout" as const, "stderr" as const),
    text: fc.oneof(
      { weight: 6, arbitrary: fc.string({ unit: fc.constantFrom("a", "\n"), maxLength: 200 }) },
      { weight: 1, arbitrary: fc.nat(140_000).map((length) => "x".repeat(length)) },
      { weight: 1, arbitrary: fc.nat(2_000).map((count) => `${"y".repeat(70)}\n`.repeat(count)) },
    ),
  }),
  { maxLength: 25 },
)
const anyBudget = fc.record({
  bytes: fc.constantFrom(64 * 1024, 8 * 1024 * 1024, 1024 ** 3),
  lines: fc.constantFrom(null, 1_000_000, 500),
  policy: fc.constant("block" as const),
})

describe("reading from the start", () => {
  test("gives what was written, per stream and in order, in whatever pieces it was written", () => {
    fc.assert(
      fc.property(anyOutput, anyBudget, (output, budget) => {
        using transcripts = temporaryTranscripts()
        using writer = transcripts.store.create(executionId, budget, () => {})
        write(writer, output)

        const pieces = piecesFrom(transcripts.reader, start, writer.facts())

        expect(textOf(pieces) === written(output)).toBe(true)
        expect(textOf(pieces, "stdout") === written(output, "stdout")).toBe(true)
        expect(textOf(pieces, "stderr") === written(output, "stderr")).toBe(true)
      }),
      { numRuns: 80 },
    )
  })

  test("gives places whose bytes and lines are exact, and from which anybody can go on", () => {
    fc.assert(
      fc.property(anyOutput, anyBudget, (output, budget) => {
        using transcripts = temporaryTranscripts()
        using writer = transcripts.store.create(executionId, budget, () => {})
        write(writer, output)
        const all = written(output)
        const facts = writer.facts()

        let sequence = 0
        for (const piece of piecesFrom(transcripts.reader, start, facts)) {
          expect(piece.sequence).toBe(sequence)
          sequence += piece.bytes.length
          expect(piece.next.sequence).toBe(sequence)
          expect(piece.next.lines).toBe(countOf(all.slice(0, sequence)).lines)
          expect(piece.bytes.length).toBeLessThanOrEqual(64 * 1024)
          expect(piece.endsInsideLine).toBe(piece.bytes.at(-1) !== 0x0a)
          const rest = piecesFrom(createTranscriptReader(transcripts.directory), piece.next, facts)
          expect(textOf(rest) === all.slice(sequence)).toBe(true)
        }
        expect(sequence).toBe(all.length)
      }),
      { numRuns: 40 },
    )
  })

  test("gives pieces as short as they are wanted, with places that are as exact", () => {
    const sizes = fc.infiniteStream(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.nat(70_000)))
    fc.assert(
      fc.property(anyOutput, anyBudget, sizes, (output, budget, wanted) => {
        using transcripts = temporaryTranscripts()
        using writer = transcripts.store.create(executionId, budget, () => {})
        write(
          writer,
          output.map((piece) => ({ ...piece, text: piece.text.slice(0, 20_000) })),
        )
        const facts = writer.facts()
        const all = textOf(piecesFrom(transcripts.reader, start, facts))
        const most: number[] = []
        const next = () => {
          const size = Math.max(1, wanted.next().value)
          most.push(size)
          return size
        }

        const pieces = piecesFrom(transcripts.reader, start, facts, next)

        expect(textOf(pieces) === all).toBe(true)
        let sequence = 0
        let lines = 0
        for (const [index, piece] of pieces.entries()) {
          expect(piece.bytes.length).toBeLessThanOrEqual(most[index] ?? 0)
          expect(piece.sequence).toBe(sequence)
          sequence += piece.bytes.length
          lines += piece.bytes.filter((byte) => byte === 0x0a).length
          expect(piece.next).toMatchObject({ sequence, lines })
        }
      }),
      { numRuns: 40 },
    )
  })

  test("reads on while it is being written, and never past what is announced", () => {
    fc.assert(
      fc.property(anyOutput, fc.infiniteStream(fc.boolean()), (output, announces) => {
        using transcripts = temporaryTranscripts()
        const budget = { bytes: 8 * 1024 * 1024, lines: null, policy: "block" as const }
        using writer = transcripts.store.create(executionId, budget, () => {})
        let announced = writer.facts()
        let position = start
        let text = ""

        for (const piece of output) {
          write(writer, [piece])
          if (announces.next().value === true) announced = writer.facts()
          const pieces = piecesFrom(transcripts.reader, position, announced)
          text += textOf(pieces)
          position = pieces.at(-1)?.next ?? position
          expect(text.length).toBe(announced.end.sequence)
        }

        text += textOf(piecesFrom(transcripts.reader, position, writer.facts()))
        expect(text === written(output)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

describe("a piece", () => {
  const piecesOf = (output: Written[], budget = roomy) => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, budget, () => {})
    write(writer, output)
    return piecesFrom(transcripts.reader, start, writer.facts())
  }
  const tiny = { bytes: 1024, lines: null, policy: "block" as const } // segments of 64 bytes

  test("joins what one stream wrote, across records and segments", () => {
    const output = Array.from({ length: 30 }, () => ({
      stream: "stdout" as const,
      text: "ten bytes\n",
    }))
    const pieces = piecesOf(output, tiny)
    expect(pieces.map(({ bytes }) => bytes.length)).toEqual([300])
  })

  test("ends where the other stream begins", () => {
    const pieces = piecesOf([
      { stream: "stdout", text: "one\ntw" },
      { stream: "stderr", text: "oops\n" },
      { stream: "stdout", text: "o\n" },
    ])
    const seen = pieces.map(({ stream, bytes, endsInsideLine }) => ({
      stream,
      text: Buffer.from(bytes).toString(),
      endsInsideLine,
    }))
    expect(seen).toEqual([
      { stream: "stdout", text: "one\ntw", endsInsideLine: true },
      { stream: "stderr", text: "oops\n", endsInsideLine: false },
      { stream: "stdout", text: "o\n", endsInsideLine: false },
    ])
  })

  test("is cut after its last line end when more of the stream follows", () => {
    const text = `${"z".repeat(99)}\n`.repeat(3_000)
    const pieces = piecesOf([{ stream: "stdout", text }])
    expect(pieces.every(({ endsInsideLine }) => !endsInsideLine)).toBe(true)
    expect(pieces.every(({ bytes }) => bytes.length > 32 * 1024 || bytes.length % 100 === 0)).toBe(
      true,
    )
  })

  test("ends inside a line that is longer than a piece", () => {
    const pieces = piecesOf([{ stream: "stdout", text: `${"z".repeat(200_000)}\nend` }])
    expect(pieces.at(0)?.endsInsideLine).toBe(true)
    expect(textOf(pieces).length).toBe(200_004)
  })

  test("is not cut where nothing follows, however it ends", () => {
    const pieces = piecesOf([{ stream: "stdout", text: "hello\nname? " }])
    expect(pieces.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(["hello\nname? "])
  })

  test("has exact lines where it takes a part of a record, however large the part", () => {
    const lines = (bytes: number) => "12345\n67\n".repeat(bytes / 9)
    for (const kilobytes of [1, 3, 6, 9, 20, 31]) {
      const output = [lines(kilobytes * 1000), lines(63_000), lines(63_000)]
      const pieces = piecesOf(
        output.map((text) => ({ stream: "stdout", text })),
        { ...roomy, bytes: 2 ** 26 },
      )
      const all = output.join("")
      for (const { next } of pieces) {
        expect(next.lines).toBe(countOf(all.slice(0, next.sequence)).lines)
      }
    }
  })

  test("shows a prompt without a line end at once", () => {
    const pieces = piecesOf([{ stream: "stdout", text: "name? " }])
    expect(pieces).toMatchObject([{ endsInsideLine: true, next: { sequence: 6, lines: 0 } }])
  })

  test("has the time of its first record", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, () => {})
    writer.append("stdout", bytesOf("a"), new Date(1000))
    writer.append("stdout", bytesOf("b"), new Date(2000))

    const [piece] = piecesFrom(transcripts.reader, start, writer.facts())

    expect(piece?.timeMs).toBe(1000)
  })

  test("follows however many changes of the terminal's size", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, () => {})
    for (let count = 0; count < 3_000; count += 1) writer.appendResize({ cols: 80, rows: 24 }, noon)
    writer.append("stdout", bytesOf("x".repeat(60_000)), noon)

    const pieces = piecesFrom(transcripts.reader, start, writer.facts())

    expect(pieces.map(({ bytes }) => bytes.length)).toEqual([60_000])
  })
})

describe("a place that was forgotten before the reader was told", () => {
  const budget = { bytes: 1024, lines: null, policy: "drop-oldest" as const }

  test("is forgotten all the same, with where output goes on", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, budget, () => {})
    writer.append("stdout", bytesOf("text\n".repeat(100)), noon)
    const stale = writer.facts()
    writer.append("stdout", bytesOf("more\n".repeat(400)), noon)

    const outcome = transcripts.reader.read(executionId, start, stale)

    const next = { ...writer.facts().start, inside: 0 }
    expect(outcome).toEqual({ kind: "forgotten", next })
    expect(transcripts.reader.read(executionId, next, stale)).toEqual({ kind: "at-end" })
  })
})

describe("a place at the end of a segment that was forgotten before the reader was told", () => {
  test("is no gap", () => {
    using transcripts = temporaryTranscripts()
    const budget = { bytes: 1024, lines: null, policy: "block" as const }
    using writer = transcripts.store.create(executionId, budget, () => {})
    writer.append("stdout", bytesOf("first".padEnd(60)), noon)
    const position = piecesFrom(transcripts.reader, start, writer.facts()).at(-1)?.next ?? start
    writer.append("stdout", bytesOf("second".padEnd(60)), noon)
    const stale = writer.facts()
    writer.forgetBefore(position)

    const outcome = transcripts.reader.read(executionId, position, stale)

    expect(writer.facts().start.segment).toBe(1)
    expect(outcome).toMatchObject({ kind: "piece", piece: { sequence: 60 } })
  })
})
