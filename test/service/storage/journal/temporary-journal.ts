import { Database } from "bun:sqlite"
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import { ExecutionEvent } from "../../../../src/execution/state.ts"
import type { Result } from "../../../../src/lib/result.ts"
import type { JournalReader, ListPage } from "../../../../src/service/gateway/ports.ts"
import type { Clock, Journal } from "../../../../src/service/keeper/ports.ts"
import { type OpenJournal, openJournal } from "../../../../src/service/storage/journal/journal.ts"
import { openJournalReader } from "../../../../src/service/storage/journal/journal-reader.ts"
import { statePathsIn } from "../../../../src/service/storage/state-paths.ts"
import { sampleTime } from "./sample-executions.ts"

export type TemporaryDirectory = Disposable & { path: string }

export function temporaryDirectory(): TemporaryDirectory {
  const path = mkdtempSync(join(tmpdir(), "cc-executor-journal-"))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

/** A clock that stands still until it is set. */
export function stillClock(): Clock & { set(time: Date): void } {
  let time = sampleTime
  return {
    now: () => time,
    set: (next) => {
      time = next
    },
    monotonicMs: () => time.getTime(),
    after: () => ({ [Symbol.dispose]: () => {} }),
  }
}

/** A page of a list whose cursor is known to be good. */
export function listed(
  reader: JournalReader,
  filter: Parameters<JournalReader["list"]>[0],
): ListPage {
  const page = reader.list(filter)
  assert(page !== null)
  return page
}

export type TemporaryJournal = Disposable & {
  path: string
  clock: ReturnType<typeof stillClock>
  journal: Journal & Pick<OpenJournal, "trials">
  reader: JournalReader & Disposable
}

export function temporaryJournal(): TemporaryJournal {
  using opened = new DisposableStack()
  const path = statePathsIn(opened.use(temporaryDirectory()).path).journal
  const clock = stillClock()
  const journal = opened.use(succeeded(openJournal(path, clock)))
  const reader = opened.use(succeeded(openJournalReader(path)))
  const kept = opened.move()
  return { path, clock, journal, reader, [Symbol.dispose]: () => kept.dispose() }
}

export function succeeded<Value, Failure>(result: Result<Value, Failure>): Value {
  assert(result.ok, `failed: ${JSON.stringify(result)}`)
  return result.value
}

export function failureOf<Value, Failure>(result: Result<Value, Failure>): Failure {
  assert(!result.ok, "succeeded, where a failure was expected")
  return result.failure
}

/** Runs SQL on a connection of its own, as nothing in the product does. */
export function rawRows(path: string, sql: string): unknown[] {
  using database = new Database(path)
  using statement = database.prepare<unknown, []>(sql)
  return statement.all()
}

/** The journaled events of every execution, oldest first. */
export function eventsById(path: string): Map<string, ExecutionEvent[]> {
  const rows = rawRows(
    path,
    "SELECT id, event FROM events JOIN executions ON ordinal = execution ORDER BY ordinal, number",
  )
  const byId = Map.groupBy(
    rows.map((row) => EventRow.parse(row)),
    ({ id }) => id,
  )
  return new Map([...byId].map(([id, found]) => [id, found.map(parseEvent)]))
}

export function eventsOf(path: string, id: string): ExecutionEvent[] {
  return eventsById(path).get(id) ?? []
}

const EventRow = z.object({ id: z.string(), event: z.string() })

function parseEvent({ event }: z.infer<typeof EventRow>): ExecutionEvent {
  return ExecutionEvent.parse(JSON.parse(event))
}
