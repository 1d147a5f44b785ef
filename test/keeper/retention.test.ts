import { describe, expect, test } from "bun:test"
import { type RetentionSettings, retain } from "../../src/keeper/retention.ts"
import { ManualClock } from "../support/manual-clock.ts"
import { MemoryJournal } from "../support/memory-journal.ts"
import { MemoryTranscripts } from "../support/memory-transcripts.ts"
import { sampleId, sampleRecord, transcriptOf } from "../support/sample-record.ts"

const hourMs = 3_600_000
const plenty: RetentionSettings = {
  ageMs: 24 * hourMs,
  totalBytes: 1_000_000,
  recordsMs: 90 * 24 * hourMs,
  keysMs: 24 * hourMs,
  diskFloorBytes: 1000,
}

/** Executions of 100 bytes each that ended so many hours ago, numbered from 0. */
function kept(hoursAgo: number[], settings: Partial<RetentionSettings>, freeBytes = Infinity) {
  const clock = new ManualClock()
  clock.advance(1000 * hourMs)
  const journal = new MemoryJournal()
  for (const [number, hours] of hoursAgo.entries()) {
    const endedAt = new Date(clock.now().getTime() - hours * hourMs).toISOString()
    const state = { kind: "ended", outcome: { kind: "exited", exitCode: 0 } } as const
    const id = sampleId(number)
    journal.create(sampleRecord({ id, state, endedAt, transcript: transcriptOf(100) }), null)
  }
  journal.create(sampleRecord({ id: sampleId(99), transcript: transcriptOf(100) }), null)
  const transcripts = new MemoryTranscripts()
  const removed = retain(
    { ...plenty, ...settings },
    { journal, transcripts, clock, freeBytes: () => freeBytes },
  )
  return { clock, journal, transcripts, removed }
}

describe("the transcripts of ended executions", () => {
  test("are kept while they are young and there is room", () => {
    const { transcripts, removed } = kept([23, 2, 1], {})

    expect(transcripts.removed).toEqual([])
    expect(removed).toEqual({ transcripts: 0, bytes: 0, records: 0 })
  })

  test("go when they are old, in the journal and on disk", () => {
    const { journal, transcripts, removed } = kept([1, 25, 26], {})

    expect(transcripts.removed).toEqual([sampleId(2), sampleId(1)])
    expect([...journal.withoutTranscript]).toEqual([sampleId(2), sampleId(1)])
    expect(removed).toMatchObject({ transcripts: 2, bytes: 200 })
  })

  test("go oldest first when all together are too large", () => {
    const { transcripts } = kept([1, 4, 2, 3], { totalBytes: 200 })

    expect(transcripts.removed).toEqual([sampleId(1), sampleId(3)])
  })

  test("go oldest first until the disk has its free space again", () => {
    const { transcripts } = kept([1, 4, 2, 3], { diskFloorBytes: 1000 }, 850)

    expect(transcripts.removed).toEqual([sampleId(1), sampleId(3)])
  })

  test("are never those of one that still runs, however full the disk is", () => {
    const { transcripts } = kept([1], { totalBytes: 0 }, 0)

    expect(transcripts.removed).toEqual([sampleId(0)])
  })
})

describe("records and idempotency keys", () => {
  test("outlive transcripts, each for a time of its own", () => {
    const { clock, journal } = kept([], {})
    const nowMs = clock.now().getTime()

    expect(journal.expired).toEqual([
      {
        recordsEndedBefore: new Date(nowMs - plenty.recordsMs),
        keysBefore: new Date(nowMs - plenty.keysMs),
      },
    ])
  })
})
