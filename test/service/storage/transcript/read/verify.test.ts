import { describe, expect, test } from "bun:test"
import { appendFileSync, cpSync, renameSync, rmSync, symlinkSync, truncateSync } from "node:fs"
import { join } from "node:path"
import type { Moment } from "../recorded-example.ts"
import { recordedExample, segmentBytesOf } from "../recorded-example.ts"
import {
  bytesOf,
  executionId,
  noon,
  roomy,
  temporaryTranscripts,
} from "../temporary-transcripts.ts"

const intact = { chain: { kind: "intact" as const }, found: null }

describe("a transcript as it was written", () => {
  test("is intact at every moment of its life", async () => {
    using example = recordedExample()
    const { reader } = example.transcripts

    for (const { facts } of example.moments) {
      expect(await reader.verify(executionId, facts, { hashes: null })).toEqual(intact)
    }
    const { facts, hashes } = example.last
    expect(await reader.verify(executionId, facts, { hashes })).toEqual(intact)
  })

  test("is intact from what is kept, after its beginning was forgotten", async () => {
    using example = recordedExample("drop-oldest", 10)
    const { facts, hashes } = example.last

    const verification = await example.transcripts.reader.verify(executionId, facts, { hashes })

    expect(facts.start.sequence).toBeGreaterThan(0)
    expect(verification.chain).toEqual({ kind: "intact-from", sequence: facts.start.sequence })
  })

  test("is intact when there was no output", async () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, () => {})
    const claim = { hashes: writer.hashes() }

    expect(await transcripts.reader.verify(executionId, writer.facts(), claim)).toEqual(intact)

    const other = { hashes: { ...writer.hashes(), chain: "0".repeat(64) } }
    expect(await transcripts.reader.verify(executionId, writer.facts(), other)).toMatchObject({
      chain: { kind: "broken-at", sequence: 0 },
    })
  })

  test("stays intact while the writer goes on and forgets under the check", async () => {
    using transcripts = temporaryTranscripts()
    const budget = { bytes: 16 * 1024 * 1024, lines: null, policy: "drop-oldest" as const }
    using writer = transcripts.store.create(executionId, budget, () => {})
    const chunk = new Uint8Array(60 * 1024)
    for (let count = 0; count < 250; count += 1) writer.append("stdout", chunk, noon)

    const checking = transcripts.reader.verify(executionId, writer.facts(), { hashes: null })
    for (let count = 0; count < 500; count += 1) {
      writer.append("stdout", chunk, noon)
      if (count % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }

    expect(writer.facts().start.sequence).toBeGreaterThan(250 * chunk.length)
    expect((await checking).chain).toMatchObject({ kind: "intact-from" })
  })
})

describe("one changed bit", () => {
  test.each([
    ["from the first record on", "block" as const, 1],
    ["after the beginning was forgotten", "drop-oldest" as const, 8],
  ])(
    "anywhere is found, and where it is: %s",
    async (_, policy, rounds) => {
      using example = recordedExample(policy, rounds)
      const { reader } = example.transcripts
      const { facts, hashes } = example.last
      const bytes = segmentBytesOf(example.transcripts)

      const misses: unknown[] = []
      for (let index = 0; index < bytes.length; index += 1) {
        const mask = 1 << (index % 8)
        bytes.flip(index, mask)
        const claim = { hashes: index % 2 === 0 ? hashes : null }
        const { chain } = await reader.verify(executionId, facts, claim)
        bytes.flip(index, mask)
        const { segment, offset } = bytes.at(index)
        const sequence = sequenceAt(example.moments, facts.start.sequence, segment, offset)
        if (chain.kind !== "broken-at" || chain.sequence !== sequence)
          misses.push({ index, sequence, chain })
      }

      expect(misses).toEqual([])
      expect(facts.start.sequence > 0).toBe(policy === "drop-oldest")
      expect(bytes.length).toBeGreaterThan(1000)
      expect((await reader.verify(executionId, facts, { hashes })).chain.kind).toStartWith("intact")
    },
    60_000,
  )

  /** The sequence before the record, or the segment's header, in which a byte of a file is. */
  function sequenceAt(moments: Moment[], start: number, segment: number, offset: number): number {
    const before = moments.filter(
      ({ facts: { end } }) =>
        end.segment < segment || (end.segment === segment && end.offset <= offset),
    )
    return Math.max(start, before.at(-1)?.facts.end.sequence ?? 0)
  }
})

describe("a transcript that was tampered with as a whole", () => {
  const pathOf = (directory: string, segment: number) =>
    join(directory, executionId, `0000000${segment}.seg`)

  test.each<[string, (directory: string, last: Moment) => void]>([
    [
      "cut short by a record",
      (directory, { facts }) =>
        truncateSync(pathOf(directory, facts.end.segment), facts.end.offset - 68),
    ],
    [
      "without its last segment",
      (directory, { facts }) => rmSync(pathOf(directory, facts.end.segment)),
    ],
    ["without its first segment", (directory) => rmSync(pathOf(directory, 0))],
    ["without a segment in the middle", (directory) => rmSync(pathOf(directory, 1))],
    [
      "with segments exchanged",
      (directory) => {
        renameSync(pathOf(directory, 1), pathOf(directory, 9))
        renameSync(pathOf(directory, 2), pathOf(directory, 1))
        renameSync(pathOf(directory, 9), pathOf(directory, 2))
      },
    ],
    [
      "with something added at its end",
      (directory, { facts }) => appendFileSync(pathOf(directory, facts.end.segment), "x"),
    ],
    [
      "with a segment added",
      (directory, { facts }) =>
        cpSync(pathOf(directory, 0), pathOf(directory, facts.end.segment + 1)),
    ],
    ["gone", (directory) => rmSync(join(directory, executionId), { recursive: true })],
  ])("%s is broken", async (_, tamper) => {
    using example = recordedExample()
    const { directory, reader } = example.transcripts
    const { facts, hashes } = example.last

    tamper(directory, example.last)

    const { chain } = await reader.verify(executionId, facts, { hashes })
    expect(chain.kind).toBe("broken-at")
  })

  test("is broken when the journal counted something else", async () => {
    using example = recordedExample()
    const { facts } = example.last
    const differing = [
      { ...facts, stdout: { ...facts.stdout, lines: facts.stdout.lines + 1 } },
      { ...facts, stderr: { ...facts.stderr, bytes: facts.stderr.bytes + 1 } },
      { ...facts, start: { ...facts.start, lines: 1 } },
    ]

    for (const other of differing) {
      const { chain } = await example.transcripts.reader.verify(executionId, other, {
        hashes: null,
      })
      expect(chain.kind).toBe("broken-at")
    }
  })

  test("is broken under another execution's name", async () => {
    using example = recordedExample()
    const { directory, reader } = example.transcripts
    const other = "b".repeat(26)

    cpSync(join(directory, executionId), join(directory, other), { recursive: true })

    const { facts, hashes } = example.last
    expect((await reader.verify(other, facts, { hashes })).chain).toEqual({
      kind: "broken-at",
      sequence: 0,
      why: "the segment continues another chain",
    })
  })

  test("is gone when there is a link in its place, even to one that is sound", async () => {
    using example = recordedExample()
    const directory = join(example.transcripts.directory, executionId)
    renameSync(directory, `${directory}.aside`)
    symlinkSync(`${directory}.aside`, directory)

    const { facts, hashes } = example.last
    const { chain } = await example.transcripts.reader.verify(executionId, facts, { hashes })
    expect(chain).toEqual({ kind: "broken-at", sequence: 0, why: "the transcript is gone" })
  })

  test("is broken when another one, sound in itself, took its place", async () => {
    using example = recordedExample()
    using forged = recordedExample()
    const { facts, hashes } = forged.last
    const claims = [
      { ...hashes, chain: "0".repeat(64) },
      { ...hashes, stdout: "0".repeat(64) },
      { ...hashes, stderr: "0".repeat(64) },
    ]

    for (const claim of claims) {
      const { chain } = await example.transcripts.reader.verify(executionId, facts, {
        hashes: claim,
      })
      expect(chain).toMatchObject({ kind: "broken-at", sequence: facts.end.sequence })
    }
  })
})

describe("what a transcript is said to contain", () => {
  const find = async (text: string) => {
    using example = recordedExample()
    const { facts } = example.last
    const claim = { hashes: null, contains: bytesOf(text) }
    return (await example.transcripts.reader.verify(executionId, facts, claim)).found
  }

  test("is found where it begins, with its stream and time", async () => {
    expect(await find("first")).toEqual({
      stream: "stdout",
      sequence: 0,
      time: new Date(1_800_000_001_000),
    })
    expect(await find("warning\n")).toEqual({
      stream: "stderr",
      sequence: 13,
      time: new Date(1_800_000_002_000),
    })
  })

  test("is found across records and segments of its stream, whatever lies between", async () => {
    expect(await find("line\nsecond")).toMatchObject({ stream: "stdout", sequence: 6 })
    expect(await find("third goes on\nxy\n\n\n")).toMatchObject({ stream: "stdout", sequence: 64 })
    expect(await find("and morethe end")).toMatchObject({ stream: "stderr", sequence: 21 })
  })

  test("is not found when it never was in one stream", async () => {
    expect(await find("first line\na warning")).toBeNull()
    expect(await find("no such text")).toBeNull()
  })

  test("is found after the beginning was forgotten, or not if it was in that", async () => {
    using transcripts = temporaryTranscripts()
    const budget = { bytes: 1024, lines: null, policy: "drop-oldest" as const }
    using writer = transcripts.store.create(executionId, budget, () => {})
    for (let count = 0; count < 200; count += 1) {
      writer.append(count % 2 === 0 ? "stdout" : "stderr", bytesOf(`line ${count}\n`), noon)
    }
    const found = async (text: string) => {
      const claim = { hashes: null, contains: bytesOf(text) }
      return (await transcripts.reader.verify(executionId, writer.facts(), claim)).found
    }

    expect(await found("line 10\n")).toBeNull()
    expect(await found("line 198\n")).toEqual({
      stream: "stdout",
      sequence: writer.facts().end.sequence - 18,
      time: noon,
    })
  })

  test("may be longer than any buffer", async () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, { ...roomy, bytes: 2 ** 26 }, () => {})
    const text = Array.from({ length: 100_000 }, (_, number) => `${number}\n`).join("")
    writer.append("stderr", bytesOf("before"), noon)
    for (let at = 0; at < text.length; at += 5_000) {
      writer.append("stdout", bytesOf(text.slice(at, at + 5_000)), noon)
      writer.append("stderr", bytesOf("between"), noon)
    }

    const claim = { hashes: null, contains: bytesOf(text.slice(2)) }
    const { found } = await transcripts.reader.verify(executionId, writer.facts(), claim)

    expect(found).toMatchObject({ stream: "stdout", sequence: 8 })
  })
})
