import { describe, expect, test } from "bun:test"
import { appendFileSync, cpSync, existsSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { recordedExample, segmentBytesOf } from "../recorded-example.ts"
import {
  bytesOf,
  bytesOnDisk,
  executionId,
  noon,
  piecesFrom,
  roomy,
  start,
  temporaryTranscripts,
  textOf,
} from "../temporary-transcripts.ts"

describe("a transcript that was written to its end", () => {
  test("is recovered as it is", () => {
    using example = recordedExample()
    expect(example.transcripts.store.recover(executionId)).toEqual({
      ...example.last,
      truncatedBytes: 0,
    })
  })

  test("is recovered without hashes after its beginning was forgotten", () => {
    using example = recordedExample("drop-oldest", 10)
    expect(example.transcripts.store.recover(executionId)).toEqual({
      facts: example.last.facts,
      hashes: null,
      truncatedBytes: 0,
    })
  })
})

describe("a transcript that stops at any byte", () => {
  test("is recovered up to its last whole record, and verifies from then on", async () => {
    using example = recordedExample()
    const { store, reader, directory } = example.transcripts
    const bytes = segmentBytesOf(example.transcripts)

    for (let cut = 0; cut <= bytes.length; cut += 1) {
      bytes.cutAt(cut)

      const recovered = store.recover(executionId)

      const whole = example.moments.filter(
        ({ facts: { end } }) => bytes.indexOf(end.segment, end.offset) <= cut,
      )
      const last = whole.at(-1)
      if (recovered === null) {
        expect(cut).toBeLessThan(128)
        expect(existsSync(join(directory, executionId))).toBe(false)
        continue
      }
      expect(recovered.facts.end.sequence).toBe(last?.facts.end.sequence ?? -1)
      expect(recovered.facts.end.lines).toBe(last?.facts.end.lines ?? -1)
      expect(recovered.facts.stdout).toEqual(last?.facts.stdout ?? { bytes: -1, lines: -1 })
      expect(recovered.hashes?.stderr).toBe(last?.hashes.stderr ?? "")
      expect(bytesOnDisk(directory)).toBe(cut - recovered.truncatedBytes)

      const { facts, hashes } = recovered
      const { chain } = await reader.verify(executionId, facts, { hashes })
      expect(chain).toEqual({ kind: "intact" })
      expect(textOf(piecesFrom(reader, start, facts)).length).toBe(facts.end.sequence)
      expect(store.recover(executionId)).toEqual({ ...recovered, truncatedBytes: 0 })
    }
  }, 60_000)

  test("is recovered also where the space was given but never written", () => {
    using example = recordedExample()
    const { facts } = example.last
    appendFileSync(
      pathOf(example.transcripts.directory, facts.end.segment),
      new Uint8Array(100_000),
    )

    const recovered = example.transcripts.store.recover(executionId)

    expect(recovered).toEqual({ ...example.last, truncatedBytes: 100_000 })
  })
})

describe("a writer that is killed", () => {
  const storePath = join(import.meta.dir, "../../../../../src/service/storage/transcript/store.ts")
  const endlessWriter = `
    import { createTranscriptStore } from "${storePath}"
    const store = createTranscriptStore(process.argv[1])
    const budget = { bytes: 4 * 1024 * 1024, lines: null, policy: process.argv[2] }
    const writer = store.create("${executionId}", budget, () => {})
    for (let count = 0; ; count += 1) {
      const text = String(count % 10).repeat((count * 7919) % 65536) + "\\n"
      writer.append(count % 3 === 0 ? "stderr" : "stdout", Buffer.from(text), new Date())
      if (count === 20) console.log("writing")
    }`

  test.each(["block", "drop-oldest"])("leaves whole records under %s", async (policy) => {
    using transcripts = temporaryTranscripts()
    const { directory, store, reader } = transcripts
    await using child = Bun.spawn([process.execPath, "-e", endlessWriter, directory, policy], {
      stdout: "pipe",
      stderr: "inherit",
    })
    await child.stdout.getReader().read()
    child.kill("SIGKILL")
    await child.exited

    const recovered = store.recover(executionId)

    if (recovered === null) throw new Error("nothing was recovered")
    const { facts, hashes } = recovered
    expect((await reader.verify(executionId, facts, { hashes })).chain.kind).toStartWith("intact")
    const pieces = piecesFrom(reader, { ...facts.start, inside: 0 }, facts)
    expect(textOf(pieces).length).toBe(facts.end.sequence - facts.start.sequence)
    expect(recovered.truncatedBytes).toBeLessThan(65 * 1024)
  })
})

describe("a crash while segments are being forgotten", () => {
  test("leaves more than was told, and that is found", () => {
    using transcripts = temporaryTranscripts()
    const copy = join(transcripts.directory, "copy")
    const folder = join(transcripts.directory, executionId)
    using writer = transcripts.store.create(executionId, tiny, () => {
      rmSync(copy, { recursive: true, force: true })
      cpSync(folder, copy, { recursive: true })
    })
    for (let count = 0; count < 200; count += 1)
      writer.append("stdout", bytesOf("ten bytes\n"), noon)
    const facts = writer.facts()
    cpSync(copy, folder, { recursive: true, force: false })

    const recovered = transcripts.store.recover(executionId)

    expect(recovered?.facts.end).toEqual(facts.end)
    expect(recovered?.facts.start.segment).toBe(facts.start.segment - 1)
  })

  test("is finished where one read had pushed out everything before it", () => {
    using transcripts = temporaryTranscripts()
    const copy = join(transcripts.directory, "copy")
    const folder = join(transcripts.directory, executionId)
    let copied = false
    using writer = transcripts.store.create(executionId, tiny, () => {
      if (!copied) cpSync(folder, copy, { recursive: true })
      copied = true
    })
    writer.append("stdout", bytesOf("ten bytes\n".repeat(20)), noon)
    writer.append("stdout", bytesOf("ten bytes\n".repeat(2_000)), noon)
    cpSync(copy, folder, { recursive: true, force: false })

    const recovered = transcripts.store.recover(executionId)

    expect(recovered).toEqual({ facts: writer.facts(), hashes: null, truncatedBytes: 0 })
    expect(existsSync(pathOf(transcripts.directory, 0))).toBe(false)
  })

  const tiny = { bytes: 1024, lines: null, policy: "drop-oldest" as const }
})

describe("a transcript with damage that no crash does", () => {
  test("ends before the damage and is left as it is, for whoever wants to look", async () => {
    using example = recordedExample()
    const { store, reader } = example.transcripts
    const bytes = segmentBytesOf(example.transcripts)
    const damagedAt = 128 + 28 // the first byte of output
    bytes.flip(damagedAt, 1)

    const recovered = store.recover(executionId)

    expect(recovered?.facts.end).toEqual({ segment: 0, offset: 128, sequence: 0, lines: 0 })
    expect(recovered?.hashes).toBeNull()
    expect(recovered?.truncatedBytes).toBe(bytes.length - 128)
    expect(bytesOnDisk(example.transcripts.directory)).toBe(bytes.length)
    const { facts, hashes } = example.last
    expect((await reader.verify(executionId, facts, { hashes })).chain.kind).toBe("broken-at")
  })

  test("is left as it is also in its last segment, when whole records follow", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, () => {})
    for (const text of ["one\n", "two\n", "three\n"]) writer.append("stdout", bytesOf(text), noon)
    const bytes = segmentBytesOf(transcripts)
    bytes.flip(128 + 60 + 4 + 28, 1) // the first byte of the second record's output

    const recovered = transcripts.store.recover(executionId)

    expect(recovered?.facts.end).toEqual({ segment: 0, offset: 192, sequence: 4, lines: 1 })
    expect(recovered?.hashes).toBeNull()
    expect(recovered?.truncatedBytes).toBe(bytes.length - 192)
    expect(bytesOnDisk(transcripts.directory)).toBe(bytes.length)
  })

  test("ends before a segment that is missing", () => {
    using example = recordedExample()
    rmSync(pathOf(example.transcripts.directory, 2))

    const recovered = example.transcripts.store.recover(executionId)

    const { size } = statSync(pathOf(example.transcripts.directory, 1))
    expect(recovered?.facts.end).toMatchObject({ segment: 1, offset: size })
    expect(recovered?.hashes).toBeNull()
  })

  test("loses its last record when that is not what was written", () => {
    using example = recordedExample()
    const bytes = segmentBytesOf(example.transcripts)
    bytes.flip(bytes.length - 40, 1)

    const recovered = example.transcripts.store.recover(executionId)

    const before = example.moments.at(-2)
    expect(recovered?.facts.end.sequence).toBe(before?.facts.end.sequence ?? -1)
    expect(recovered?.truncatedBytes).toBe(68)
  })
})

function pathOf(directory: string, segment: number): string {
  return join(directory, executionId, `0000000${segment}.seg`)
}
