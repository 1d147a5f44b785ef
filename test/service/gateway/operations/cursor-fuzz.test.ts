import { describe, expect, test } from "bun:test"
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { decodeCursor, encodeCursor } from "../../../../src/service/gateway/operations/cursor.ts"
import type { FeedEvent, OutputFeed, OutputForm } from "../../../../src/service/gateway/ports.ts"
import {
  emptyRecordHeader,
  readRecordFields,
  recordFieldBytes,
} from "../../../../src/service/storage/transcript/format.ts"
import { type Chance, oneOf } from "../../../support/chance.ts"
import { byScale, seed } from "../../../support/scale.ts"
import { seededRandom } from "../../../support/seeded-random.ts"
import { caller, eventsOf, StagedExecution } from "../../../support/staged-execution.ts"
import { WrittenOutput } from "../../../support/written-output.ts"

const fuzzMs = byScale({ short: 1500, full: 20_000, long: 600_000 })

describe("whatever an execution writes and whatever cursor a client brings", () => {
  test(
    "nothing is delivered under a stream, a place or a time that it was not written with",
    async () => {
      const endsMs = performance.now() + fuzzMs
      const done = { rounds: 0, honest: 0, refused: 0, accepted: 0, records: 0 }
      while (performance.now() < endsMs || done.rounds < 3) {
        const roundSeed = (seed + done.rounds) | 0
        try {
          const round = await fuzzRound(seededRandom(roundSeed))
          for (const key of ["honest", "refused", "accepted", "records"] as const) {
            done[key] += round[key]
          }
        } catch (error) {
          throw new Error(`STRESS_SEED=${roundSeed} repeats it`, { cause: error })
        }
        done.rounds += 1
      }
      console.log(`cursors: ${JSON.stringify(done)}`)
      expect(done.rounds).toBeGreaterThan(0)
      expect(done.honest).toBeGreaterThan(0)
      expect(done.refused).toBeGreaterThan(0)
    },
    fuzzMs + 60_000,
  )
})

async function fuzzRound(chance: Chance) {
  const bytes = oneOf(chance, [1024, 8192, 65_536, 1_048_576] as const)
  using staged = new StagedExecution({ bytes })
  const output = new WrittenOutput(staged, chance)
  const honest = new Set<string>()
  using reader = await staged.open()
  const form = oneOf(chance, ["text", "bytes"] as const)
  for (let writes = 5 + chance(60); writes > 0; writes -= 1) {
    output.write()
    if (chance(3) > 0) collect(reader, form, chance, honest)
  }

  const counts = { honest: 0, refused: 0, accepted: 0, records: output.written.length }
  for (const cursor of someOf(chance, [...honest], 12)) {
    const opened = await staged.operations.open(caller, staged.id, cursor)
    assert(opened.ok, `refused, though it was given out: ${cursor}`)
    using feed = opened.value
    const how = oneOf(chance, ["text", "bytes"] as const)
    output.check(eventsOf(feed, how), how, cursor)
    counts.honest += 1
  }

  // Some are held open while more is written: a place past everything is one as well.
  using open = new DisposableStack()
  const feeds: Array<{ feed: OutputFeed; cursor: string; form: OutputForm; events: FeedEvent[] }> =
    []
  for (const cursor of forgeries(staged, chance, [...honest])) {
    const opened = await staged.operations.open(caller, staged.id, cursor)
    if (!opened.ok) {
      expect(opened.failure.reason).toBe("INVALID_PARAMS")
      expect(opened.failure.message).toContain("is not a cursor of this output")
      counts.refused += 1
      continue
    }
    const feed = open.use(opened.value)
    const how = oneOf(chance, ["text", "bytes"] as const)
    feeds.push({ feed, cursor, form: how, events: eventsOf(feed, how) })
    counts.accepted += 1
  }
  for (let writes = chance(6); writes > 0; writes -= 1) output.write()
  staged.end()
  for (const { feed, cursor, form: how, events } of feeds) {
    events.push(...eventsOf(feed, how))
    output.check(events, how, cursor)
  }
  return counts
}

/** Reads some of what is there, as one of the ways in which clients read, and keeps each cursor. */
function collect(feed: OutputFeed, form: OutputForm, chance: Chance, into: Set<string>): void {
  const mostBytes = oneOf(chance, [undefined, 1, 7, 300])
  for (let most = 1 + chance(20); most > 0; most -= 1) {
    const event = feed.next(form, mostBytes)
    if (event === null) return
    assert(event.kind !== "failed", JSON.stringify(event))
    into.add(feed.cursor())
  }
}

function someOf<Value>(chance: Chance, all: readonly Value[], most: number): Value[] {
  const first = all.length <= most ? 0 : chance(most)
  const step = Math.max(1, Math.floor(all.length / most))
  return all.filter((_, index) => index % step === first % step)
}

/** Cursors as an attacker makes them who knows the format, and can read every file. */
function forgeries(staged: StagedExecution, chance: Chance, honest: string[]): string[] {
  const found: string[] = []
  const { start, end } = staged.record.transcript
  const directory = join(staged.transcripts.directory, staged.id)
  for (const name of readdirSync(directory)) {
    const bytes = readFileSync(join(directory, name))
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const header = emptyRecordHeader()
    for (let offset = 0; offset + recordFieldBytes <= bytes.length; offset += 1) {
      if (!readRecordFields(view, offset, header) || header.sequence > end.sequence) continue
      const inside = chance(3) === 0 ? chance(header.length) : 0
      const lines = oneOf(chance, [0, start.lines, end.lines, chance(end.lines + 1)])
      found.push(
        cursorOf(chance, {
          segment: Number.parseInt(name, 10),
          offset,
          sequence: header.sequence + inside,
          lines,
          inside,
        }),
      )
    }
  }
  for (let count = 0; count < 60; count += 1) {
    const base = decodeCursor(oneOf(chance, ["1.0.0.0.0.0", ...honest]))?.position
    assert(base !== undefined)
    const name = oneOf(chance, ["segment", "offset", "sequence", "lines", "inside"] as const)
    const by = oneOf(chance, [1, -1, 28, -32, 60, chance(1000), -chance(1000), end.sequence])
    found.push(cursorOf(chance, { ...base, [name]: Math.max(0, base[name] + by) }))
  }
  return found.filter((cursor) => decodeCursor(cursor) !== null)
}

function cursorOf(
  chance: Chance,
  position: { segment: number; offset: number; sequence: number; lines: number; inside: number },
): string {
  const none = new Uint8Array(0)
  const some = () =>
    chance(6) === 0
      ? oneOf(chance, [
          Buffer.from("€").subarray(0, 2),
          Uint8Array.of(0xc3),
          Buffer.from("😀").subarray(0, 3),
        ])
      : none
  const lines = Math.min(position.lines, position.sequence)
  return encodeCursor({
    position: { ...position, lines },
    held: { stdout: some(), stderr: some() },
  })
}
