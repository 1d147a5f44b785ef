import { describe, expect, test } from "bun:test"
import type { ExecutionRecord } from "../../../../src/execution/record.ts"
import type { IdempotencyEntry } from "../../../../src/service/keeper/ports.ts"
import { labelled, live, queued, sampleTime } from "./sample-executions.ts"
import { rawRows, type TemporaryJournal, temporaryJournal } from "./temporary-journal.ts"

const hourMs = 3_600_000
const entry: IdempotencyEntry = { principal: "alice", key: "deploy-7", fingerprint: "f1" }
const hoursLater = (hours: number) => new Date(sampleTime.getTime() + hours * hourMs)
const never = new Date(0)

describe("an idempotency key", () => {
  test("finds the execution it started", () => {
    using opened = temporaryJournal()
    const record = queued()

    opened.journal.create(record, entry)

    expect(opened.journal.findByKey("alice", "deploy-7")).toEqual({ fingerprint: "f1", record })
  })

  test("is its principal's own", () => {
    using opened = temporaryJournal()
    opened.journal.create(queued(), entry)
    const bobs = queued({ principal: "bob" })

    opened.journal.create(bobs, { ...entry, principal: "bob" })

    expect(opened.journal.findByKey("bob", "deploy-7")?.record).toEqual(bobs)
    expect(opened.journal.findByKey("carol", "deploy-7")).toBeNull()
    expect(opened.journal.findByKey("alice", "deploy-8")).toBeNull()
  })

  test("never starts two: the second execution is not created at all", () => {
    using opened = temporaryJournal()
    const first = queued()
    const second = queued()
    opened.journal.create(first, entry)

    expect(() => opened.journal.create(second, entry)).toThrow("UNIQUE")

    expect(opened.journal.find(second.id)).toBeNull()
    expect(opened.journal.unfinished()).toEqual([first])
  })

  test("outlives the execution it started", () => {
    using opened = temporaryJournal()
    const record = liveWithKey(opened)

    opened.journal.remove(record.id)

    expect(opened.journal.findByKey("alice", "deploy-7")).toEqual({
      fingerprint: "f1",
      record: null,
    })
  })

  test("goes when its time has come", () => {
    using opened = temporaryJournal()
    liveWithKey(opened)
    opened.clock.set(hoursLater(25))

    const gone = opened.journal.expire({ recordsEndedBefore: never, keysBefore: hoursLater(1) })

    expect(gone).toBe(1)
    expect(opened.journal.findByKey("alice", "deploy-7")).toBeNull()
  })

  test("is kept for a day, whatever is asked", () => {
    using opened = temporaryJournal()
    liveWithKey(opened)
    opened.clock.set(hoursLater(23))

    const gone = opened.journal.expire({ recordsEndedBefore: never, keysBefore: hoursLater(23) })

    expect(gone).toBe(0)
    expect(opened.journal.findByKey("alice", "deploy-7")).not.toBeNull()
  })

  test("is kept as long as its execution lives", () => {
    using opened = temporaryJournal()
    opened.journal.create(queued(), entry)
    opened.clock.set(hoursLater(100))

    const gone = opened.journal.expire({ recordsEndedBefore: never, keysBefore: hoursLater(90) })

    expect(gone).toBe(0)
    expect(opened.journal.findByKey("alice", "deploy-7")).not.toBeNull()
  })
})

describe("records past their time", () => {
  test("go with all that belongs to them; later ones and live ones stay", () => {
    using opened = temporaryJournal()
    const old = live(opened.journal, labelled({ project: "x" }), hoursLater(1))
    const recent = live(opened.journal, labelled({ project: "x" }), hoursLater(3))
    const running = queued()
    opened.journal.create(running, null)
    opened.journal.transcriptRemoved(old.id)
    opened.journal.transcriptRemoved(recent.id)

    const gone = opened.journal.expire({ recordsEndedBefore: hoursLater(2), keysBefore: never })

    expect(gone).toBe(1)
    expect(opened.journal.find(old.id)).toBeNull()
    expect(opened.journal.find(recent.id)).toEqual(recent)
    expect(opened.journal.unfinished()).toEqual([running])
    expect(rawRows(opened.path, "SELECT 1 FROM receipts")).toHaveLength(1)
    expect(rawRows(opened.path, "SELECT 1 FROM events")).toHaveLength(4)
  })

  test("stay while their transcript is kept: its files would belong to nobody", () => {
    using opened = temporaryJournal()
    const record = live(opened.journal, queued(), hoursLater(1))
    const expire = () =>
      opened.journal.expire({ recordsEndedBefore: hoursLater(2), keysBefore: never })

    expect(expire()).toBe(0)
    opened.journal.transcriptRemoved(record.id)

    expect(expire()).toBe(1)
  })

  test("go however many they are", () => {
    using opened = temporaryJournal()
    for (let made = 0; made < 1_100; made += 1) {
      opened.journal.transcriptRemoved(live(opened.journal, queued(), hoursLater(1)).id)
    }

    const gone = opened.journal.expire({ recordsEndedBefore: hoursLater(2), keysBefore: never })

    expect(gone).toBe(1_100)
    expect(rawRows(opened.path, "SELECT 1 FROM executions")).toEqual([])
  })
})

function liveWithKey({ journal }: TemporaryJournal): ExecutionRecord {
  return live(journal, queued(), sampleTime, entry)
}
