import { describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createTranscriptReader } from "../../../../src/service/storage/transcript/read/reader.ts"
import { createTranscriptStore } from "../../../../src/service/storage/transcript/store.ts"
import {
  bytesOf,
  bytesOnDisk,
  executionId,
  noon,
  piecesFrom,
  roomy,
  start,
  textOf,
} from "./temporary-transcripts.ts"

type SmallDisk = Disposable & { directory: string }

/** A file system of its own, small enough to be filled; null where mounting is not allowed. */
function mountSmallDisk(kibibytes: number): SmallDisk | null {
  const directory = mkdtempSync(join(tmpdir(), "small-disk-"))
  const options = `size=${kibibytes}k,mode=0700`
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", options, "tmpfs", directory])
  if (!mounted.success) {
    rmSync(directory, { recursive: true })
    return null
  }
  return {
    directory,
    [Symbol.dispose]() {
      Bun.spawnSync(["umount", directory])
      rmSync(directory, { recursive: true })
    },
  }
}

function requireSmallDisk(kibibytes: number): SmallDisk {
  const disk = mountSmallDisk(kibibytes)
  if (disk === null) throw new Error("mounting worked before")
  return disk
}

function mayMount(): boolean {
  const disk = mountSmallDisk(64)
  disk?.[Symbol.dispose]()
  return disk !== null
}

describe.skipIf(!mayMount())("a disk that fills up", () => {
  const line = (number: number) => `${String(number).padStart(999, "0")}\n`

  test("ends the record at a whole one, and says which bytes are not in it", async () => {
    using disk = requireSmallDisk(256)
    const store = createTranscriptStore(disk.directory)
    const reader = createTranscriptReader(disk.directory)
    using writer = store.create(executionId, roomy, () => {})

    let text = ""
    let number = 0
    for (;;) {
      const hashes = writer.hashes()
      const outcome = writer.append("stdout", bytesOf(line(number)), noon)
      if (outcome.kind === "disk-full") {
        expect(Buffer.from(outcome.rest).toString()).toBe(line(number))
        expect(writer.hashes()).toEqual(hashes)
        break
      }
      text += line(number)
      number += 1
    }

    const facts = writer.facts()
    expect(facts.stdout).toEqual({ bytes: text.length, lines: number })
    expect(textOf(piecesFrom(reader, start, facts)) === text).toBe(true)
    const verification = await reader.verify(executionId, facts, { hashes: writer.hashes() })
    expect(verification.chain).toEqual({ kind: "intact" })
    expect(store.recover(executionId)).toEqual({
      facts,
      hashes: writer.hashes(),
      truncatedBytes: 0,
    })
  })

  test("keeps the pieces of an append that are there, and gives back the rest", () => {
    using disk = requireSmallDisk(256)
    const store = createTranscriptStore(disk.directory)
    const reader = createTranscriptReader(disk.directory)
    using writer = store.create(executionId, roomy, () => {})
    const text = Array.from({ length: 300 }, (_, number) => line(number)).join("")

    const outcome = writer.append("stderr", bytesOf(text), noon)

    const lost = outcome.kind === "disk-full" ? Buffer.from(outcome.rest).toString() : ""
    const kept = textOf(piecesFrom(reader, start, writer.facts()))
    expect(lost.length).toBeGreaterThan(0)
    expect(kept.length).toBeGreaterThan(0)
    expect(kept + lost === text).toBe(true)
  })

  test("goes on where it stopped when there is space again", async () => {
    using disk = requireSmallDisk(256)
    const ballast = join(disk.directory, "ballast")
    writeFileSync(ballast, new Uint8Array(200 * 1024))
    const store = createTranscriptStore(join(disk.directory, "transcripts"))
    const reader = createTranscriptReader(join(disk.directory, "transcripts"))
    using writer = store.create(executionId, roomy, () => {})
    let text = ""
    let lost = ""
    const fill = (from: number) => {
      for (let number = from; ; number += 1) {
        const outcome = writer.append("stdout", bytesOf(line(number)), noon)
        if (outcome.kind === "disk-full") {
          writer.discard(outcome.rest)
          lost += Buffer.from(outcome.rest).toString()
          return number + 1
        }
        text += line(number)
      }
    }

    const next = fill(0)
    rmSync(ballast)
    fill(next)

    const facts = writer.facts()
    expect(facts.stdout.bytes).toBe(text.length)
    expect(facts.dropped).toEqual({ bytes: lost.length, lines: 2 })
    expect(textOf(piecesFrom(reader, start, facts)) === text).toBe(true)
    const verification = await reader.verify(executionId, facts, { hashes: writer.hashes() })
    expect(verification.chain).toEqual({ kind: "intact" })
  })

  test("refuses even the first record, without leaving a file", () => {
    using disk = requireSmallDisk(64)
    const directory = join(disk.directory, "transcripts")
    mkdirSync(directory)
    const store = createTranscriptStore(directory)
    using writer = store.create(executionId, roomy, () => {})
    fillUp(disk.directory)

    const outcome = writer.append("stdout", bytesOf("text"), noon)
    const resized = writer.appendResize({ cols: 80, rows: 24 }, noon)

    expect(outcome).toEqual({ kind: "disk-full", rest: bytesOf("text") })
    expect(resized.kind).toBe("disk-full")
    expect(writer.facts().end.offset).toBe(0)
    expect(bytesOnDisk(directory)).toBe(0)
  })

  test("never stops the taking of what was read, where it blocks", () => {
    using disk = requireSmallDisk(256)
    const store = createTranscriptStore(disk.directory)
    const budget = { bytes: 1024, lines: 1, policy: "block" as const }
    using writer = store.create(executionId, budget, () => {})
    writer.append("stdout", bytesOf("a line\n"), noon)
    fillUp(disk.directory)

    writer.forgetBefore(writer.facts().end)
    expect(writer.facts().start.sequence).toBe(0)

    rmSync(join(disk.directory, "filler"))
    writer.forgetBefore(writer.facts().end)
    expect(writer.facts().start.sequence).toBe(7)
  })

  function fillUp(directory: string): void {
    try {
      for (;;) writeFileSync(join(directory, "filler"), new Uint8Array(4096), { flag: "a" })
    } catch {
      return // that was the purpose
    }
  }
})
