import { describe, expect, test } from "bun:test"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { TranscriptFacts } from "../../../../../src/execution/record.ts"
import type { Location, ReadPosition } from "../../../../../src/service/gateway/ports.ts"
import type { TranscriptWriter } from "../../../../../src/service/keeper/ports.ts"
import {
  recordFieldBytes,
  segmentHeaderBytes,
} from "../../../../../src/service/storage/transcript/format.ts"
import { createTranscriptReader } from "../../../../../src/service/storage/transcript/read/reader.ts"
import { forgedOutput } from "../../../../support/forged-record.ts"
import {
  bytesOf,
  executionId,
  noon,
  piecesFrom,
  roomy,
  start,
  type TemporaryTranscripts,
  temporaryTranscripts,
} from "../temporary-transcripts.ts"

const none = { stdout: new Uint8Array(0), stderr: new Uint8Array(0) }
const here: Location = { kind: "found", held: [], forgottenBytes: 0 }
const nowhere = { kind: "nowhere" }

class Recorded implements Disposable {
  readonly transcripts: TemporaryTranscripts = temporaryTranscripts()
  readonly writer: TranscriptWriter

  constructor(bytes = roomy.bytes) {
    const budget = { ...roomy, bytes }
    this.writer = this.transcripts.store.create(executionId, budget, () => undefined)
  }

  get facts(): TranscriptFacts {
    return this.writer.facts()
  }

  locate(position: ReadPosition, facts = this.facts): Location {
    return this.transcripts.reader.locate(executionId, { position, held: none }, facts)
  }

  /** Every place between two records or in one, as reading gives them, with the lines there. */
  places(): ReadPosition[] {
    const pieces = piecesFrom(this.transcripts.reader, start, this.facts, () => 1)
    return [start, ...pieces.map(({ next }) => next)]
  }

  path(segment: number): string {
    const name = `${String(segment).padStart(8, "0")}.seg`
    return join(this.transcripts.directory, executionId, name)
  }

  [Symbol.dispose](): void {
    this.writer[Symbol.dispose]()
    this.transcripts[Symbol.dispose]()
  }
}

function severalRecords(recorded: Recorded): void {
  const { writer } = recorded
  const told = { stream: "stderr", text: "never said\n", sequence: 12, timeMs: 7 } as const
  writer.append("stdout", bytesOf("one\ntwo\n"), noon)
  writer.append("stderr", bytesOf("oh\n"), noon)
  writer.appendResize({ cols: 80, rows: 24 }, noon)
  writer.append("stdout", forgedOutput("x\n", [told, { ...told, sequence: 23 }], "y\n").bytes, noon)
  writer.append("stdout", bytesOf("end"), noon)
}

describe("a place in a transcript", () => {
  test("is found where reading leads to it, and nowhere else", () => {
    using recorded = new Recorded()
    severalRecords(recorded)
    const places = recorded.places()
    const key = (position: ReadPosition) => Object.values(position).join(" ")
    const ours = new Set(places.map(key))

    for (const place of places) expect(recorded.locate(place)).toEqual(here)
    const claims = places
      .filter(({ inside }) => inside === 0 || inside === 2)
      .map(({ sequence, lines, inside }) => ({ sequence, lines, inside }))
    let refused = 0
    for (let offset = 0; offset <= recorded.facts.end.offset + 1; offset += 1) {
      for (const claim of claims) {
        const claimed = { segment: 0, offset, ...claim }
        if (ours.has(key(claimed)) || isBoundary(recorded, claimed)) continue
        expect(recorded.locate(claimed)).toMatchObject(nowhere)
        refused += 1
      }
    }
    expect(refused).toBeGreaterThan(1000)
  })

  test("may be at the end of a segment, at the start of the next, or after its header", () => {
    using recorded = new Recorded(1024)
    for (let line = 0; line < 12; line += 1) {
      recorded.writer.append("stdout", bytesOf("twenty bytes of line\n"), noon)
    }
    const { end } = recorded.facts
    const at = { sequence: 63, lines: 3, inside: 0 }

    expect(end.segment).toBeGreaterThan(1)
    expect(recorded.locate({ segment: 1, offset: 0, ...at })).toEqual(here)
    expect(recorded.locate({ segment: 1, offset: segmentHeaderBytes, ...at })).toEqual(here)
    const offset = readFileSync(recorded.path(0)).length
    expect(recorded.locate({ segment: 0, offset, ...at })).toEqual(here)
    expect(recorded.locate({ segment: 2, offset: 0, ...at })).toMatchObject(nowhere)
    expect(recorded.locate({ segment: 0, offset: offset + 1, ...at })).toMatchObject(nowhere)
    expect(recorded.locate({ ...end, sequence: end.sequence + 1, inside: 0 })).toMatchObject(
      nowhere,
    )
  })

  test("is the same for every reader of the same files", () => {
    using recorded = new Recorded()
    severalRecords(recorded)
    const other = createTranscriptReader(recorded.transcripts.directory)

    for (const position of recorded.places().toReversed()) {
      expect(other.locate(executionId, { position, held: none }, recorded.facts)).toEqual(here)
    }
  })

  test("is found in what is written while others read", () => {
    using recorded = new Recorded()
    for (let line = 0; line < 50; line += 1) {
      const before = { ...recorded.facts.end, inside: 0 }
      expect(recorded.locate(before)).toEqual(here)
      recorded.writer.append(line % 3 ? "stdout" : "stderr", bytesOf(`${line}\n`), noon)
      expect(recorded.locate(before)).toEqual(here)
    }
  })

  test("that was dropped is as good as any, if it can have been one", () => {
    using recorded = new Recorded(1024)
    const line = () => recorded.writer.append("stdout", bytesOf("twenty bytes of line\n"), noon)
    line()
    const [, first = start] = recorded.places().filter(({ inside }) => inside === 0)
    const factsThen = recorded.facts
    for (let count = 0; count < 500; count += 1) line()

    expect(recorded.facts.start.sequence).toBeGreaterThan(0)
    expect(recorded.locate(first)).toEqual(here)
    expect(recorded.locate({ ...first, segment: 1 }, factsThen)).toMatchObject(nowhere)
    // The writer may be ahead of what it has told.
    const end = recorded.facts.end
    expect(recorded.locate(first, { ...factsThen, end })).toEqual(here)
    rmSync(join(recorded.transcripts.directory, executionId), { recursive: true })
    expect(recorded.locate({ ...end, offset: end.offset - 1, inside: 0 })).toEqual(here)
  })
})

/** A boundary that reading passes by, because nothing of the output lies between two of them. */
function isBoundary({ facts }: Recorded, { offset, sequence, lines, inside }: ReadPosition) {
  const resizeAt = segmentHeaderBytes + 2 * (recordFieldBytes + 32) + 11
  const isEmpty = sequence === 0 && lines === 0 && offset === segmentHeaderBytes
  const isResize =
    sequence === 11 && lines === 3 && (offset === resizeAt || offset === resizeAt + 64)
  return inside === 0 && facts.start.sequence === 0 && (isEmpty || isResize)
}

describe("a place behind damage", () => {
  test("is not guessed: where the damage is, is told", () => {
    using recorded = new Recorded()
    severalRecords(recorded)
    const places = recorded.places()
    const bytes = readFileSync(recorded.path(0))
    const second = segmentHeaderBytes + recordFieldBytes + 8 + 32
    bytes[second + 2] = 0 // of the mark of every record
    writeFileSync(recorded.path(0), bytes)

    const found = places.map((place) => recorded.locate(place).kind)

    // Up to the damaged record, and at the end, which the journal knows.
    expect(found.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => "found"))
    expect(new Set(found.slice(9, -1))).toEqual(new Set(["damaged"]))
    expect(recorded.locate(places.at(12) ?? start)).toMatchObject({ kind: "damaged", sequence: 8 })
  })

  test("is not guessed where a segment is missing or has no header", () => {
    using recorded = new Recorded(1024)
    for (let line = 0; line < 12; line += 1) {
      recorded.writer.append("stdout", bytesOf("twenty bytes of line\n"), noon)
    }
    const inSecond = { segment: 1, offset: segmentHeaderBytes, sequence: 63, lines: 3, inside: 0 }
    writeFileSync(recorded.path(1), "no header")
    expect(recorded.locate(inSecond)).toMatchObject({ kind: "damaged" })
    expect(recorded.locate({ ...inSecond, offset: 0 })).toMatchObject({ kind: "damaged" })

    rmSync(recorded.path(1))
    expect(recorded.locate(inSecond)).toMatchObject({ kind: "damaged" })
  })
})

describe("a segment of very many records", () => {
  test("is walked once, in turns, and then every place in it is near", () => {
    using recorded = new Recorded(64 * 1024 * 1024)
    for (let count = 0; count < 60_000; count += 1) {
      recorded.writer.append(count % 5 ? "stdout" : "stderr", bytesOf("x\n"), noon)
    }
    const { facts } = recorded
    const recordBytes = recordFieldBytes + 2 + 32
    const placeAfter = (records: number): ReadPosition => ({
      segment: 0,
      offset: segmentHeaderBytes + records * recordBytes,
      sequence: 2 * records,
      lines: records,
      inside: 0,
    })
    const turnsTo = (records: number) => {
      for (let turns = 1; ; turns += 1) {
        const location = recorded.locate(placeAfter(records), facts)
        if (location.kind === "far") continue
        expect(location).toEqual(here)
        return turns
      }
    }

    const first = turnsTo(59_000)

    expect(facts.end.segment).toBe(0)
    expect(first).toBeGreaterThan(2)
    for (let records = 1; records < 59_000; records += 997) expect(turnsTo(records)).toBe(1)
  })
})
