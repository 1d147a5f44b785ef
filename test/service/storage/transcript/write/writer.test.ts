import { describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { startOfTranscript, type TranscriptFacts } from "../../../../../src/execution/record.ts"
import {
  bytesOf,
  bytesOnDisk,
  countOf,
  executionId,
  noon,
  piecesFrom,
  roomy,
  start,
  temporaryTranscripts,
  textOf,
} from "../temporary-transcripts.ts"

const forgetsNothing = (facts: TranscriptFacts) => {
  throw new Error(`forgot up to ${facts.start.sequence}`)
}

describe("an execution without output", () => {
  test("has no files, and facts that say so", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, forgetsNothing)

    writer.append("stdout", new Uint8Array(0), noon)

    expect(existsSync(join(transcripts.directory, executionId))).toBe(false)
    expect(writer.facts().end).toEqual(startOfTranscript)
    expect(transcripts.store.recover(executionId)).toBeNull()
    expect(bytesOnDisk(transcripts.directory)).toBe(0)
  })

  test("has the hashes of nothing, and a chain of its own", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, forgetsNothing)
    using other = transcripts.store.create("a".repeat(26), roomy, forgetsNothing)

    const { chain, stdout, stderr } = writer.hashes()

    const ofNothing = createHash("sha256").digest("hex")
    const genesis = `cc-executor transcript v1\0${executionId}`
    expect({ stdout, stderr }).toEqual({ stdout: ofNothing, stderr: ofNothing })
    expect(chain).toBe(createHash("sha256").update(genesis).digest("hex"))
    expect(other.hashes().chain).not.toBe(chain)
  })
})

describe("output of two streams", () => {
  test("is counted and hashed per stream", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, forgetsNothing)

    writer.append("stdout", bytesOf("one\ntwo"), noon)
    writer.append("stderr", bytesOf("oops\n"), noon)
    writer.append("stdout", bytesOf("\n"), noon)

    const facts = writer.facts()
    expect(facts.stdout).toEqual(countOf("one\ntwo\n"))
    expect(facts.stderr).toEqual(countOf("oops\n"))
    expect(facts.dropped).toEqual({ bytes: 0, lines: 0 })
    expect(facts.end.sequence).toBe(13)
    expect(facts.end.lines).toBe(3)
    expect(writer.hashes().stdout).toBe(createHash("sha256").update("one\ntwo\n").digest("hex"))
    expect(writer.hashes().stderr).toBe(createHash("sha256").update("oops\n").digest("hex"))
  })

  test("may be larger than a record", () => {
    using transcripts = temporaryTranscripts()
    const budget = { ...roomy, bytes: 64 * 1024 * 1024 }
    using writer = transcripts.store.create(executionId, budget, forgetsNothing)
    const text = "0123456789abcde\n".repeat(20_000)

    writer.append("stdout", bytesOf(text), noon)

    expect(writer.facts().stdout).toEqual(countOf(text))
    expect(textOf(piecesFrom(transcripts.reader, start, writer.facts()))).toBe(text)
  })

  test("that could not be recorded is only counted as dropped", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, forgetsNothing)

    writer.append("stdout", bytesOf("kept\n"), noon)
    writer.discard(bytesOf("lost\nlost"))

    expect(writer.facts().stdout).toEqual(countOf("kept\n"))
    expect(writer.facts().dropped).toEqual(countOf("lost\nlost"))
  })
})

describe("a change of the terminal's size", () => {
  test("is recorded without being output", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, forgetsNothing)

    writer.append("stdout", bytesOf("before "), noon)
    writer.appendResize({ cols: 80, rows: 24 }, noon)
    const before = writer.hashes()
    writer.appendResize({ cols: 100, rows: 50 }, noon)
    writer.append("stdout", bytesOf("after"), noon)

    expect(writer.facts().end.sequence).toBe(12)
    expect(writer.hashes().chain).not.toBe(before.chain)
    expect(textOf(piecesFrom(transcripts.reader, start, writer.facts()))).toBe("before after")
  })
})

describe("a file on disk", () => {
  test("belongs to its owner alone", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, forgetsNothing)

    writer.append("stdout", bytesOf("secret"), noon)

    const directory = join(transcripts.directory, executionId)
    const [name] = readdirSync(directory)
    expect(name).toBe("00000000.seg")
    expect(Bun.file(join(directory, "00000000.seg")).size).toBe(128 + 28 + 6 + 32)
    const modeOf = (path: string) =>
      Bun.spawnSync(["stat", "-c", "%a", path]).stdout.toString().trim()
    expect([modeOf(directory), modeOf(join(directory, "00000000.seg"))]).toEqual(["700", "600"])
  })

  test("is never written over", () => {
    using transcripts = temporaryTranscripts()
    using first = transcripts.store.create(executionId, roomy, forgetsNothing)
    using second = transcripts.store.create(executionId, roomy, forgetsNothing)

    first.append("stdout", bytesOf("first"), noon)

    expect(() => second.append("stdout", bytesOf("second"), noon)).toThrow("EEXIST")
  })

  test("is gone after its removal, and removing it again does nothing", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, forgetsNothing)
    writer.append("stdout", bytesOf("text"), noon)
    expect(bytesOnDisk(transcripts.directory)).toBe(192)
    expect(transcripts.store.all()).toEqual([executionId])

    transcripts.store.remove(executionId)
    transcripts.store.remove(executionId)

    expect(existsSync(join(transcripts.directory, executionId))).toBe(false)
    expect(transcripts.store.all()).toEqual([])
    expect(() => transcripts.store.remove("..")).toThrow()
  })
})

describe("a writer that is disposed", () => {
  test("takes no more, and can be disposed again", () => {
    using transcripts = temporaryTranscripts()
    const writer = transcripts.store.create(executionId, roomy, forgetsNothing)
    writer.append("stdout", bytesOf("text"), noon)

    writer[Symbol.dispose]()
    writer[Symbol.dispose]()

    expect(() => writer.append("stdout", bytesOf("more"), noon)).toThrow("after its end")
  })
})

describe("bringing it onto the disk", () => {
  test("works while segments are begun, forgotten and closed", async () => {
    using transcripts = temporaryTranscripts()
    const budget = { bytes: 1024, lines: null, policy: "drop-oldest" as const }
    const writer = transcripts.store.create(executionId, budget, () => {})

    await writer.sync()
    const syncs: Promise<void>[] = []
    for (let round = 0; round < 100; round += 1) {
      writer.append("stdout", bytesOf("x".repeat(50)), noon)
      if (round % 10 === 0) syncs.push(writer.sync())
    }
    syncs.push(writer.sync())
    writer[Symbol.dispose]()

    await Promise.all(syncs)
    expect(writer.facts().end.sequence).toBe(5000)
  })
})
