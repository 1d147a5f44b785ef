import { describe, expect, test } from "bun:test"
import { appendFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import type { TranscriptFacts } from "../../../../src/execution/record.ts"
import type { ReadPosition } from "../../../../src/service/gateway/ports.ts"
import {
  bytesOf,
  executionId,
  noon,
  roomy,
  start,
  type TemporaryTranscripts,
  temporaryTranscripts,
} from "./temporary-transcripts.ts"

describe("a transcript that is not as it was written", () => {
  const damagedBy = (
    spoil: (path: (segment: number) => string) => void,
  ): { at: ReadPosition; kind: string } => {
    using transcripts = temporaryTranscripts()
    const budget = { bytes: 1024, lines: null, policy: "block" as const }
    using writer = transcripts.store.create(executionId, budget, () => {})
    for (let count = 0; count < 10; count += 1)
      writer.append("stdout", bytesOf("x".repeat(60)), noon)
    spoil((segment) => segmentPath(transcripts, segment))
    return firstFault(transcripts, writer.facts())
  }

  test.each<[string, string, (path: (segment: number) => string) => void]>([
    ["gone altogether", "expired", (path) => rmSync(join(path(0), ".."), { recursive: true })],
    ["a file", "expired", (path) => replaceByFile(join(path(0), ".."))],
    ["without a segment in the middle", "damaged", (path) => rmSync(path(4))],
    ["cut short", "damaged", (path) => truncateSync(path(4), 200)],
    ["cut inside a segment's header", "damaged", (path) => truncateSync(path(4), 100)],
    ["without its end", "damaged", (path) => truncateSync(path(9), 128)],
    ["of zeros", "damaged", (path) => writeFileSync(path(4), new Uint8Array(300))],
    ["with a little more in a segment", "damaged", (path) => appendFileSync(path(4), "more")],
    ["with a segment twice", "damaged", (path) => Bun.spawnSync(["cp", path(3), path(4)])],
  ])("%s is %s", (_, kind, spoil) => {
    const fault = damagedBy(spoil)
    expect(fault.kind).toBe(kind)
    if (kind === "damaged") expect(fault.at.sequence % 60).toBe(0)
  })

  test("is damaged at any place where no record begins, and nothing worse", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, () => {})
    writer.append("stdout", bytesOf("one\n"), noon)
    writer.append("stderr", bytesOf("two\n"), noon)
    const facts = writer.facts()

    fc.assert(
      fc.property(
        fc.nat(3),
        fc.nat(400),
        fc.nat(10),
        fc.nat(10),
        (segment, offset, sequence, inside) => {
          const position = { segment, offset, sequence, lines: 0, inside }
          const outcome = transcripts.reader.read(executionId, position, facts)
          const isReal = outcome.kind === "piece" && sequence < 8
          expect(isReal || outcome.kind === "damaged" || outcome.kind === "at-end").toBe(true)
        },
      ),
    )
  })

  test("is damaged at the most distant place that a cursor can name, and nothing worse", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, () => {})
    writer.append("stdout", bytesOf("one\n"), noon)
    writer.append("stderr", bytesOf("two\n"), noon)
    const facts = writer.facts()
    const number = fc.oneof(fc.nat(300), fc.nat(0xffff_ffff), fc.maxSafeNat())

    fc.assert(
      fc.property(
        fc.oneof(fc.nat(2), fc.nat(0xffff_ffff)),
        number,
        fc.oneof(fc.nat(8), fc.maxSafeNat()),
        number,
        fc.nat(64_511),
        (segment, offset, sequence, lines, inside) => {
          const position = { segment, offset, sequence, lines, inside }
          const { kind } = transcripts.reader.read(executionId, position, facts)
          const isReal = kind === "piece" && sequence < 8
          expect(isReal || kind === "damaged" || kind === "at-end").toBe(true)
        },
      ),
      { numRuns: 2000 },
    )
  })

  function segmentPath(transcripts: TemporaryTranscripts, segment: number): string {
    return join(transcripts.directory, executionId, `${String(segment).padStart(8, "0")}.seg`)
  }

  function firstFault(transcripts: TemporaryTranscripts, facts: TranscriptFacts) {
    let at = start
    for (;;) {
      const outcome = transcripts.reader.read(executionId, at, facts)
      if (outcome.kind !== "piece") return { kind: outcome.kind, at }
      at = outcome.piece.next
    }
  }
})

function replaceByFile(directory: string): void {
  rmSync(directory, { recursive: true })
  writeFileSync(directory, "")
}
