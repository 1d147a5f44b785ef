import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type {
  StreamName,
  TranscriptFacts,
  TranscriptHashes,
} from "../../../../src/execution/record.ts"
import type { BudgetPolicy } from "../../../../src/execution/spec.ts"
import type { TemporaryTranscripts } from "./temporary-transcripts.ts"
import { bytesOf, executionId, temporaryTranscripts } from "./temporary-transcripts.ts"

/** The facts after something was written, and the hashes of that moment. */
export type Moment = { facts: TranscriptFacts; hashes: TranscriptHashes }

/** A small transcript of several segments, both streams and a change of size, and its history. */
export type RecordedExample = Disposable & {
  transcripts: TemporaryTranscripts
  moments: Moment[]
  last: Moment
}

const pieces: Array<[StreamName | "resize", string]> = [
  ["stdout", "first line\n"],
  ["stderr", "a warning\nand more"],
  ["resize", ""],
  ["stdout", "second line, longer than the first\nthird"],
  ["stdout", " goes on\n"],
  ["stderr", "the end of the warning, which takes almost a segment\n"],
  ["stdout", "x"],
  ["resize", ""],
  ["stdout", "y\n\n\n"],
  ["stderr", "prompt> "],
]

export function recordedExample(policy: BudgetPolicy = "block", rounds = 1): RecordedExample {
  const transcripts = temporaryTranscripts()
  const budget = { bytes: 1024, lines: null, policy }
  using writer = transcripts.store.create(executionId, budget, () => {})
  const now = (): Moment => ({ facts: writer.facts(), hashes: writer.hashes() })
  const moments = [now()]
  let time = 1_800_000_000_000
  for (let round = 0; round < rounds; round += 1) {
    for (const [kind, text] of pieces) {
      time += 1000
      if (kind === "resize") writer.appendResize({ cols: 80, rows: 24 }, new Date(time))
      else writer.append(kind, bytesOf(text), new Date(time))
      moments.push(now())
    }
  }
  return {
    transcripts,
    moments,
    last: now(),
    [Symbol.dispose]: () => transcripts[Symbol.dispose](),
  }
}

/** The files as one row of bytes, in which any byte can be changed and anything cut off. */
export type SegmentBytes = {
  readonly length: number
  /** What begins nearest before a byte: a record, or at offset 0 a segment. */
  at(index: number): { path: string; segment: number; offset: number }
  /** The other way round. */
  indexOf(segment: number, offset: number): number
  flip(index: number, mask: number): void
  /** As if the machine had stopped after so many bytes; all of them again for the next cut. */
  cutAt(length: number): void
}

export function segmentBytesOf({ directory }: TemporaryTranscripts): SegmentBytes {
  const folder = join(directory, executionId)
  const files = readdirSync(folder)
    .toSorted()
    .map((name) => ({ path: join(folder, name), segment: Number.parseInt(name, 10) }))
    .map((file) => ({ ...file, bytes: readFileSync(file.path) }))
  const length = files.reduce((sum, { bytes }) => sum + bytes.length, 0)

  const at = (index: number) => {
    let offset = index
    for (const { path, segment, bytes } of files) {
      if (offset < bytes.length) return { path, segment, offset }
      offset -= bytes.length
    }
    throw new Error(`no byte ${index}`)
  }
  return {
    length,
    at,
    indexOf(segment, offset) {
      const before = files.filter((file) => file.segment < segment)
      return before.reduce((sum, { bytes }) => sum + bytes.length, 0) + offset
    },
    flip(index, mask) {
      const { path, offset } = at(index)
      const bytes = readFileSync(path)
      bytes.writeUInt8((bytes.at(offset) ?? 0) ^ mask, offset)
      writeFileSync(path, bytes)
    },
    cutAt(cut) {
      let left = cut
      mkdirSync(folder, { recursive: true })
      for (const { path, bytes } of files) {
        if (left > 0) writeFileSync(path, bytes.subarray(0, left), { mode: 0o600 })
        else rmSync(path, { force: true })
        left -= bytes.length
      }
    },
  }
}
