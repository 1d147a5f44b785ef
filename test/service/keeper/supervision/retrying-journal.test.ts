import { describe, expect, test } from "bun:test"
import type { ExecutionRecord } from "../../../../src/execution/record.ts"
import type { ExecutionEvent } from "../../../../src/execution/state.ts"
import { openRetryingJournal } from "../../../../src/service/keeper/supervision/retrying-journal.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { MemoryJournal } from "../../../support/memory-journal.ts"
import { QuietLog } from "../../../support/quiet-log.ts"
import { sampleRecord } from "../../../support/sample-record.ts"
import { settled } from "../../../support/scripted-link.ts"
import { someReceipt } from "../../storage/journal/sample-executions.ts"

class DiskFull extends Error {}

/** A disk with room for so many writes, and a reserve for so many more. */
class Disk extends MemoryJournal {
  room = 0
  reserve = 0
  isReserveOpen = false
  tidied = 0

  override update(record: ExecutionRecord): void {
    this.take()
    super.update(record)
  }

  override append(event: ExecutionEvent, record: ExecutionRecord): void {
    this.take()
    super.append(event, record)
  }

  take(): void {
    if (this.room > 0) this.room -= 1
    else if (this.isReserveOpen && this.reserve > 0) this.reserve -= 1
    else throw new DiskFull()
  }
}

function stage(change: Partial<Pick<Disk, "room" | "reserve">> = {}) {
  const disk = Object.assign(new Disk(), change)
  const clock = new ManualClock()
  const log = new QuietLog()
  const journal = openRetryingJournal(
    disk,
    { sign: () => someReceipt },
    {
      clock,
      log,
      isFull: (error) => error instanceof DiskFull,
      makeRoom() {
        disk.tidied += 1
      },
      openReserve() {
        disk.isReserveOpen = true
      },
      closeReserve() {
        disk.isReserveOpen = false
      },
    },
  )
  return { disk, clock, log, journal }
}

const running = sampleRecord()
const ended = sampleRecord({
  state: { kind: "ended", outcome: { kind: "exited", exitCode: 0 } },
  endedAt: "2026-01-01T00:00:01.000Z",
})
const emptied = { kind: "emptied" } as const

describe("on a disk with room", () => {
  test("everything is written at once, and nobody tidies up", async () => {
    const { disk, journal, log } = stage({ room: 10 })
    journal.write({ kind: "paused" }, running)
    journal.write(null, running)
    await journal.end([emptied], ended)

    expect(disk.events.map(({ kind }) => kind)).toEqual(["paused", "emptied"])
    expect(disk.receipts.size).toBe(1)
    expect([disk.tidied, log.entries.length]).toEqual([0, 0])
  })
})

describe("an end", () => {
  test("is told of when it would survive a loss of power", async () => {
    const { disk, journal } = stage({ room: 10 })
    const synced = Promise.withResolvers<void>()
    disk.sync = () => synced.promise
    let isTold = false
    const end = journal.end([emptied], ended).then(() => {
      isTold = true
      return isTold
    })
    await settled()
    expect([disk.receipts.size, isTold]).toEqual([1, false])

    synced.resolve()
    await end

    expect(isTold).toBe(true)
  })

  test("is told of, too, where the disk fails to sync, and the log says so", async () => {
    const { disk, journal, log } = stage({ room: 10 })
    disk.sync = () => Promise.reject(new Error("EIO"))

    await journal.end([emptied], ended)

    expect(log.events).toEqual(["journal not synced: a loss of power may cost its last entries"])
  })
})

describe("on a full disk", () => {
  test("a start does not touch the reserve", () => {
    const { disk, journal } = stage({ reserve: 5 })
    expect(journal.withoutReserve(() => disk.take())).toBe(false)
    expect([disk.reserve, disk.tidied]).toEqual([5, 1])
  })

  test("a start is tried again after tidying up", () => {
    const { disk, journal } = stage()
    const write = () => {
      if (disk.tidied === 0) throw new DiskFull()
    }
    expect(journal.withoutReserve(write)).toBe(true)
  })

  test("an end is written into the reserve, which is closed again", async () => {
    const { disk, journal } = stage({ reserve: 1 })
    await journal.end([emptied], ended)
    expect(disk.receipts.size).toBe(1)
    expect([disk.reserve, disk.isReserveOpen]).toEqual([0, false])
  })

  test("an event that finds no room is missing, and the log says so", () => {
    const { disk, journal, log } = stage()
    journal.write({ kind: "paused" }, running)
    expect(disk.events).toEqual([])
    expect(log.events).toEqual(["disk full: an event could not be journaled"])
    expect(disk.isReserveOpen).toBe(false)
  })

  test("an end that finds no room waits for it, however long, and is told of once", async () => {
    const { disk, clock, journal, log } = stage()
    let isTold = false
    const end = journal.end([emptied], ended).then(() => {
      isTold = true
      return isTold
    })
    for (let tries = 0; tries < 5; tries += 1) {
      await settled()
      clock.advance(500)
    }
    expect([isTold, journal.unwrittenEnds()]).toEqual([false, 1])

    disk.room = 1
    await settled()
    clock.advance(500)
    await end

    expect([isTold, journal.unwrittenEnds()]).toEqual([true, 0])
    expect(disk.receipts.size).toBe(1)
    expect(log.events).toEqual(["disk full: waiting to journal an end"])
  })
})

describe("another failure than a full disk", () => {
  test("is nobody's to endure", () => {
    const { journal } = stage()
    const broken = () => {
      throw new Error("a bug")
    }
    expect(() => journal.withoutReserve(broken)).toThrow("a bug")
    expect(() => journal.withReserve(broken)).toThrow("a bug")
  })
})
