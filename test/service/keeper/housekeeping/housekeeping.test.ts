import { describe, expect, test } from "bun:test"
import { createHousekeeping } from "../../../../src/service/keeper/housekeeping/housekeeping.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { MemoryJournal } from "../../../support/memory-journal.ts"
import { MemoryTranscripts } from "../../../support/memory-transcripts.ts"
import { QuietLog } from "../../../support/quiet-log.ts"
import { sampleRecord, transcriptOf } from "../../../support/sample-record.ts"

const nothingLive = {
  live: () => ({ totalBytes: 0, byPrincipal: new Map() }),
  tidied: () => undefined,
}

class DiskFull extends Error {}

const settings = {
  ageMs: 0,
  totalBytes: 1_000_000,
  recordsMs: 1e12,
  keysMs: 1e12,
  diskFloorBytes: 0,
  maxDiskBytes: Infinity,
  retainBytesPerPrincipal: Infinity,
}

/** A journal that can write down a removal only while the reserve is given up. */
function stage(options: { isFull: boolean; reserveHelps: boolean }) {
  const steps: string[] = []
  let isReserveGivenUp = false
  const journal = new MemoryJournal()
  const remove = journal.transcriptRemoved.bind(journal)
  journal.transcriptRemoved = (id) => {
    if (options.isFull && !(isReserveGivenUp && options.reserveHelps)) throw new DiskFull()
    steps.push("removed")
    remove(id)
  }
  const state = { kind: "ended", outcome: { kind: "exited", exitCode: 0 } } as const
  const record = sampleRecord({
    state,
    transcript: transcriptOf(5),
    endedAt: "2020-01-01T00:00:00Z",
  })
  journal.records.set(record.id, record)
  const log = new QuietLog()
  const directory = {
    freeBytes: () => 1_000_000_000,
    dropBallast() {
      isReserveGivenUp = true
      steps.push("drop")
    },
    retakeBallast() {
      isReserveGivenUp = false
      steps.push("retake")
    },
    restoreBallast: () => void steps.push("restore"),
  }
  const transcripts = new MemoryTranscripts()
  const clock = new ManualClock()
  const isFull = (error: unknown) => error instanceof DiskFull
  const disk = () => nothingLive
  const ports = { journal, transcripts, clock, log, disk, missingInodes: () => 0, isFull }
  return { keepHouse: createHousekeeping(settings, directory, ports), steps, log }
}

describe("keeping house", () => {
  test("forgets what is past its time, and then sees to the reserve", () => {
    const { keepHouse, steps, log } = stage({ isFull: false, reserveHelps: false })
    keepHouse()
    expect(steps).toEqual(["removed", "restore"])
    expect(log.events).toEqual(["retention removed"])
  })

  test("uses the reserve when there is no room to write down what goes", () => {
    const { keepHouse, steps } = stage({ isFull: true, reserveHelps: true })
    keepHouse()
    expect(steps).toEqual(["drop", "removed", "retake", "restore"])
  })

  test("waits for the next time when even that is not enough", () => {
    const { keepHouse, steps, log } = stage({ isFull: true, reserveHelps: false })
    keepHouse()
    expect(steps).toEqual(["drop", "retake", "restore"])
    expect(log.events).toEqual(["disk full: housekeeping waits"])
  })
})
