import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import type { ExecutionRecord } from "../../../../src/execution/record.ts"
import { prepareReaderStatements } from "../../../../src/service/storage/journal/journal-reader.ts"
import { live, queued } from "./sample-executions.ts"
import { type TemporaryJournal, temporaryJournal } from "./temporary-journal.ts"

const pending = { kind: "pending", attempt: 1, notBefore: "2026-01-01T00:00:00.000Z" } as const

function lost({ journal }: TemporaryJournal): ExecutionRecord {
  const record: ExecutionRecord = { ...live(journal), restart: pending }
  journal.update(record)
  return record
}

const open = ({ reader }: TemporaryJournal) => reader.openRestarts().map(({ id }) => id)

test("sessions that have not gone on are found among all that have ended", () => {
  using opened = temporaryJournal()
  live(opened.journal)
  const old = lost(opened)

  expect(opened.reader.openRestarts()).toEqual([old])
})

test("what goes on with one is made and linked at once, and taken back at once", () => {
  using opened = temporaryJournal()
  const old = lost(opened)
  const next = queued()

  opened.journal.create(next, null, old)
  const linked = opened.reader.find(old.id)?.restart
  const openThen = open(opened)
  opened.journal.withdraw(next.id, null, old)

  expect(linked).toEqual({ kind: "restarted", as: next.id })
  expect(openThen).toEqual([])
  expect(opened.reader.find(next.id)).toBeNull()
  expect(open(opened)).toEqual([old.id])
})

test("one that is removed waits for nobody", () => {
  using opened = temporaryJournal()
  const old = lost(opened)

  opened.journal.remove(old.id)

  expect(open(opened)).toEqual([])
})

test("they are found along their own index", () => {
  using opened = temporaryJournal()
  using database = new Database(opened.path)
  using owner = new DisposableStack()
  const { openRestarts } = prepareReaderStatements(database, owner)
  using plan = database.prepare<unknown, []>(`EXPLAIN QUERY PLAN ${String(openRestarts)}`)

  expect(JSON.stringify(plan.all())).toContain("open_restarts")
})
