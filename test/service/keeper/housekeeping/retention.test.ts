import { describe, expect, test } from "bun:test"
import type { LiveUse } from "../../../../src/service/keeper/admission/disk-use.ts"
import {
  type RetentionSettings,
  retain,
} from "../../../../src/service/keeper/housekeeping/retention.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { MemoryJournal } from "../../../support/memory-journal.ts"
import { MemoryTranscripts } from "../../../support/memory-transcripts.ts"
import { sampleId, sampleRecord, transcriptOf } from "../../../support/sample-record.ts"

const hourMs = 3_600_000
const plenty: RetentionSettings = {
  ageMs: 24 * hourMs,
  totalBytes: 1_000_000,
  recordsMs: 90 * 24 * hourMs,
  keysMs: 24 * hourMs,
  diskFloorBytes: 1000,
  maxDiskBytes: Infinity,
  retainBytesPerPrincipal: Infinity,
}

const nothingLive: LiveUse = { totalBytes: 0, byPrincipal: new Map() }

/** Executions of 100 bytes each that ended so many hours ago, numbered from 0. */
function kept(
  hoursAgo: number[],
  settings: Partial<RetentionSettings>,
  freeBytes = Infinity,
  live = nothingLive,
  missingInodes = 0,
) {
  const clock = new ManualClock()
  clock.advance(1000 * hourMs)
  const journal = new MemoryJournal()
  for (const [number, hours] of hoursAgo.entries()) {
    const endedAt = new Date(clock.now().getTime() - hours * hourMs).toISOString()
    const state = { kind: "ended", outcome: { kind: "exited", exitCode: 0 } } as const
    const id = sampleId(number)
    const principal = number % 2 === 0 ? "even" : "odd"
    const facts = { id, principal, state, endedAt, transcript: transcriptOf(100) }
    journal.create(sampleRecord(facts), null)
  }
  journal.create(sampleRecord({ id: sampleId(99), transcript: transcriptOf(100) }), null)
  const transcripts = new MemoryTranscripts()
  const tidied: unknown[] = []
  const disk = () => ({
    live: () => live,
    tidied: (bytes: number, shares: ReadonlyMap<string, number>) => {
      tidied.push(bytes, Object.fromEntries(shares))
    },
  })
  const inodes = () => Math.max(0, missingInodes - 2 * transcripts.removed.length)
  const removed = retain(
    { ...plenty, ...settings },
    { journal, transcripts, clock, freeBytes: () => freeBytes, missingInodes: inodes, disk },
  )
  return { clock, journal, transcripts, removed, tidied }
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

  test("go oldest first until the disk has its free inodes again", () => {
    const { transcripts } = kept([1, 4, 2, 3], {}, Infinity, nothingLive, 3)

    expect(transcripts.removed).toEqual([sampleId(1), sampleId(3)])
  })

  test("are never those of one that still runs, however full the disk is", () => {
    const { transcripts } = kept([1], { totalBytes: 0 }, 0)

    expect(transcripts.removed).toEqual([sampleId(0)])
  })
})

describe("a cap on all transcripts", () => {
  test("counts the live ones, and takes the oldest of the ended", () => {
    const live = { totalBytes: 650, byPrincipal: new Map() }
    const { transcripts, tidied } = kept([1, 4, 2, 3], { maxDiskBytes: 900 }, Infinity, live)

    expect(transcripts.removed).toEqual([sampleId(1), sampleId(3)])
    expect(tidied).toEqual([200, {}])
  })

  test("takes all that have ended when the live ones alone are too much", () => {
    const live = { totalBytes: 901, byPrincipal: new Map() }
    const { transcripts } = kept([1, 2], { maxDiskBytes: 900 }, Infinity, live)

    expect(transcripts.removed).toEqual([sampleId(1), sampleId(0)])
  })
})

describe("the share of one principal", () => {
  const settings = { retainBytesPerPrincipal: 200 }
  const liveOf = (liveBytes: number, endedBytes: number | null = null) => {
    return { totalBytes: liveBytes, byPrincipal: new Map([["even", { liveBytes, endedBytes }]]) }
  }

  test("is kept by its own oldest, the live ones counted, whoever else has more", () => {
    const hours = [6, 5, 4, 3, 2, 1]
    const { transcripts, tidied } = kept(hours, settings, Infinity, liveOf(50))

    expect(transcripts.removed).toEqual([sampleId(0), sampleId(2)])
    expect(tidied).toEqual([400, { even: 100 }])
  })

  test("takes nothing while there is room, and tells what there is", () => {
    const { transcripts, tidied } = kept([4, 3, 2, 1], settings, Infinity, liveOf(0))

    expect(transcripts.removed).toEqual([])
    expect(tidied).toEqual([400, { even: 200 }])
  })

  test("is not looked at again while what is known says that it is kept", () => {
    const { tidied } = kept([4, 3, 2, 1], settings, Infinity, liveOf(0, 200))

    expect(tidied).toEqual([400, {}])
  })

  test("is all for the live ones when they need it", () => {
    const { transcripts } = kept([4, 3, 2, 1], settings, Infinity, liveOf(500, 200))

    expect(transcripts.removed).toEqual([sampleId(0), sampleId(2)])
  })

  test("binds nobody who is exempt", () => {
    const hours = [6, 5, 4, 3, 2, 1]
    const live = { totalBytes: 1000, byPrincipal: new Map() }

    expect(kept(hours, settings, Infinity, live).transcripts.removed).toEqual([])
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
