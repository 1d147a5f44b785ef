import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { maxPayloadBytes, type StreamName } from "../../../../src/execution/record.ts"
import type { ReadPosition } from "../../../../src/service/gateway/ports.ts"
import { byScale } from "../../../support/scale.ts"
import {
  type RecordedExample,
  recordedExample,
  type SegmentBytes,
  segmentBytesOf,
} from "./recorded-example.ts"
import { executionId, piecesFrom, start } from "./temporary-transcripts.ts"

type Byte = { stream: StreamName; byte: number }
type Reading = { bytes: Byte[]; end: string }

let example: RecordedExample
let files: SegmentBytes
let written: Byte[]

beforeEach(() => {
  example = recordedExample()
  files = segmentBytesOf(example.transcripts)
  written = piecesFrom(example.transcripts.reader, start, example.last.facts).flatMap(byteByByte)
})
afterEach(() => example[Symbol.dispose]())

const masks = [0x01, 0x02, 0x10, 0x40, 0x80, 0xff]
/** All of them for every byte take a while; else each byte gets two of them. */
const masksPerByte = byScale({ short: 2, full: masks.length, long: masks.length })

describe("a transcript of which one byte was changed, whichever it is", () => {
  test("is read to an end, and nothing in front of that byte's record is other than it was", () => {
    for (const { index, mask } of everyChange()) {
      const { bytes, end } = readAll()

      const before = bytes.slice(0, sequenceBefore(index))
      expect({ index, mask, before }).toEqual({
        index,
        mask,
        before: written.slice(0, before.length),
      })
      expect(["at-end", "damaged"]).toContain(end)
    }
  })

  test("is read as it was but for output that was changed itself, or is damaged", () => {
    const untold: unknown[] = []
    for (const { index, mask } of everyChange()) {
      const { bytes, end } = readAll()
      if (end === "damaged") continue
      const others = written.filter((byte, at) => !isSame(byte, bytes[at]))
      const isPlain = bytes.length === written.length && others.length <= 1
      if (!isPlain) untold.push({ index, mask, bytes: bytes.length, others: others.length })
    }
    expect(untold).toEqual([])
  })

  test("is recovered up to the record of that byte, and that much verifies", async () => {
    const { store, reader } = example.transcripts
    for (let index = 0; index < files.length; index += 1) {
      files.cutAt(files.length)
      files.flip(index, masks[index % masks.length] ?? 1)

      const recovered = store.recover(executionId)

      if (recovered === null) {
        expect(index).toBeLessThan(128)
        continue
      }
      const { facts, hashes } = recovered
      expect(facts.end.sequence).toBe(sequenceBefore(index))
      const read = piecesFrom(reader, start, facts).flatMap(byteByByte)
      expect(read).toEqual(written.slice(0, facts.end.sequence))
      const { chain } = await reader.verify(executionId, facts, { hashes })
      // What a crash does not do is left lying behind the end, and `verify` sees it there.
      if (chain.kind === "broken-at") expect(chain.sequence).toBe(facts.end.sequence)
    }
  }, 60_000)

  test("has its lines and times sought, whatever is found there", () => {
    const { reader } = example.transcripts
    const { facts } = example.last
    for (const _ of everyChange()) {
      for (const lines of [0, 1, 3, 1000])
        isReadPosition(reader.tail(executionId, facts, { lines }))
      for (const ms of [0, 1_800_000_004_000, 8.64e15]) {
        isReadPosition(reader.since(executionId, facts, new Date(ms)))
      }
    }
  })
})

describe("a transcript that was cut off, at whichever byte", () => {
  test("is read exactly as it was written, and then says it is damaged", () => {
    for (let cut = 0; cut < files.length; cut += 1) {
      files.cutAt(cut)

      const { bytes, end } = readAll()

      expect(bytes).toEqual(written.slice(0, bytes.length))
      // Without its first segment there is nothing left that could be damaged.
      const isAll = bytes.length === written.length
      if (!isAll) expect({ cut, end }).toEqual({ cut, end: cut === 0 ? "expired" : "damaged" })
    }
  })

  test("is broken, and where: after the last record that is whole", async () => {
    const { facts, hashes } = example.last
    for (let cut = 0; cut < files.length; cut += 1) {
      files.cutAt(cut)
      const { chain } = await example.transcripts.reader.verify(executionId, facts, { hashes })
      expect({ cut, chain }).toMatchObject({
        cut,
        chain: { kind: "broken-at", sequence: sequenceBefore(cut) },
      })
    }
  })
})

function* everyChange(): Generator<{ index: number; mask: number }> {
  for (let index = 0; index < files.length; index += 1) {
    for (let count = 0; count < masksPerByte; count += 1) {
      const mask = masks[(index + 5 * count) % masks.length] ?? 1
      files.flip(index, mask)
      yield { index, mask }
      files.flip(index, mask)
    }
  }
}

/** Everything a reader gets, until it is told something else; it always gets on. */
function readAll(): Reading {
  const bytes: Byte[] = []
  for (let at: ReadPosition = start; ; ) {
    const outcome = example.transcripts.reader.read(executionId, at, example.last.facts)
    if (outcome.kind !== "piece") return { bytes, end: outcome.kind }
    const { piece } = outcome
    expect(piece.next.sequence).toBe(at.sequence + piece.bytes.length)
    expect(piece.bytes.length).toBeWithin(1, maxPayloadBytes + 1)
    bytes.push(...byteByByte(piece))
    at = piece.next
  }
}

function byteByByte({ stream, bytes }: { stream: StreamName; bytes: Uint8Array }): Byte[] {
  return [...bytes].map((byte) => ({ stream, byte }))
}

function isSame(one: Byte, other: Byte | undefined): boolean {
  return one.stream === other?.stream && one.byte === other.byte
}

/** How much output was written before the record, or the segment's header, that has a byte. */
function sequenceBefore(index: number): number {
  const whole = example.moments.filter(
    ({ facts: { end } }) => files.indexOf(end.segment, end.offset) <= index,
  )
  return whole.at(-1)?.facts.end.sequence ?? 0
}

function isReadPosition({ segment, sequence, inside }: ReadPosition): void {
  expect([segment, sequence, inside].every((number) => number >= 0)).toBe(true)
}
