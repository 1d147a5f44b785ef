import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import assert from "node:assert/strict"
import { z } from "zod"
import type { Journal } from "../../../../src/service/keeper/ports.ts"
import { prepareReaderStatements } from "../../../../src/service/storage/journal/journal-reader.ts"
import { listSql } from "../../../../src/service/storage/journal/list-query.ts"
import { namedSql } from "../../../../src/service/storage/journal/named-executions.ts"
import { visibleSql } from "../../../../src/service/storage/journal/visible-executions.ts"
import { prepareWriterStatements } from "../../../../src/service/storage/journal/writer-statements.ts"
import { byScale } from "../../../support/scale.ts"
import { live, queued } from "./sample-executions.ts"
import { type TemporaryJournal, temporaryJournal } from "./temporary-journal.ts"

const many = byScale({ short: 4000, full: 10_000, long: 10_000 })

describe(`a journal of ${many} executions`, () => {
  test("costs nearly what one of 500 does", () => {
    using small = journalOf(500)
    using large = journalOf(many)

    const executionRatio = costRatio(small, large, ({ journal }) => makeMany(journal, 50))
    const listRatio = costRatio(small, large, ({ reader }) => reader.list({ limit: 100 }))
    const unfinishedRatio = costRatio(small, large, ({ journal }) => journal.unfinished())

    expect(executionRatio).toBeLessThan(1.5)
    expect(listRatio).toBeLessThan(2) // a scan would be eight, or twenty
    expect(unfinishedRatio).toBeLessThan(3) // microseconds, so coarse
  }, 300_000)
})

describe("every query", () => {
  test("goes along an index, in its order: nothing is scanned or sorted", () => {
    using opened = temporaryJournal()
    using database = new Database(opened.path)
    using owner = new DisposableStack()
    const statements = {
      ...prepareWriterStatements(database, owner),
      ...prepareReaderStatements(database, owner),
    }
    const queries = Object.values(statements)
      .map(String)
      .filter((sql) => /^\s*(SELECT|UPDATE|DELETE)/.test(sql))

    const ofReaders = [listSql, visibleSql, namedSql].flatMap((sqls) => Object.values(sqls))
    const sqls = [...queries, ...ofReaders]

    const steps = sqls.flatMap((sql) => planOf(database, sql))

    expect(steps.length).toBeGreaterThan(20)
    // The labels asked for are a list in the query itself, and what is counted is to a limit.
    const harmless = /^SCAN (CONSTANT ROW|wanted VIRTUAL TABLE|\(subquery)/
    const bad = steps.filter((step) => /^SCAN|TEMP B-TREE/.test(step) && !harmless.test(step))
    expect(bad).toEqual([])
  })

  test("for what a crash left looks at the live executions only", () => {
    using opened = temporaryJournal()
    using database = new Database(opened.path)
    using owner = new DisposableStack()
    const { unfinished } = prepareWriterStatements(database, owner)

    for (const sql of [String(unfinished), listSql.live, visibleSql.live, namedSql.live]) {
      expect(planOf(database, sql)[0]).toContain("INDEX unfinished_executions")
    }
  })
})

function planOf(database: Database, sql: string): string[] {
  using statement = database.prepare<unknown, []>(`EXPLAIN QUERY PLAN ${sql}`)
  const rows = z.array(z.object({ detail: z.string() })).parse(statement.all())
  return rows.map(({ detail }) => detail)
}

function journalOf(executions: number): TemporaryJournal {
  const opened = temporaryJournal()
  opened.journal.create(queued(), null)
  makeMany(opened.journal, executions)
  return opened
}

function makeMany(journal: Journal, count: number): void {
  for (let made = 0; made < count; made += 1) live(journal)
}

/** By the processor's time, which other programs on the machine do not add to. */
function costRatio<Subject>(one: Subject, other: Subject, run: (on: Subject) => unknown): number {
  const rounds = Array.from({ length: 15 }, () => ({
    oneUs: processorUs(() => run(one)),
    otherUs: processorUs(() => run(other)),
  }))
  return median(rounds.map(({ otherUs }) => otherUs)) / median(rounds.map(({ oneUs }) => oneUs))
}

function processorUs(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

function median(values: readonly number[]): number {
  const middle = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
  assert(middle !== undefined)
  return middle
}
