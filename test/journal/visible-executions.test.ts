import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { maySee } from "../../src/access/ownership.ts"
import type { Viewer } from "../../src/gateway/ports.ts"
import { visibleSql } from "../../src/journal/visible-executions.ts"
import { bearer } from "../support/callers.ts"
import { queued } from "./sample-executions.ts"
import { listed, temporaryJournal } from "./temporary-journal.ts"

function viewer(principal: string): Viewer {
  const caller = bearer(principal, "read")
  return { principal, maySee: (one) => maySee(caller, one) }
}

function owned(principal: string, labels: Record<string, string> = {}) {
  const record = queued({ principal })
  return { ...record, spec: { ...record.spec, labels } }
}

describe("a list for one principal", () => {
  test("has its own and what others share with it, newest first, and nothing else", () => {
    using opened = temporaryJournal()
    const records = [
      owned("alice"),
      owned("bob"),
      owned("bob", { share: "alice" }),
      owned("bob", { share: "carol" }),
      owned("carol", { "share-control": "*" }),
      owned("bob", { shared: "alice" }),
      owned("alice", { share: "bob" }),
    ]
    for (const record of records) opened.journal.create(record, null)

    const seen = opened.reader.list({ limit: 100 }, viewer("alice"))?.records ?? []

    const expected = [6, 4, 2, 0].map((at) => records[at]?.id ?? "")
    expect(seen.map(({ id }) => id)).toEqual(expected)
  })

  test("is the whole list without what may not be seen, however it is paged and filtered", () => {
    const principals = fc.constantFrom("alice", "bob", "carol")
    const shares = fc.option(fc.constantFrom("alice", "bob,carol", "*", ""), { nil: undefined })
    const one = fc.record({ principal: principals, share: shares, job: fc.constantFrom("a", "b") })
    fc.assert(
      fc.property(
        fc.array(one, { maxLength: 30 }),
        principals,
        fc.integer({ min: 1, max: 7 }),
        (all, who, limit) => {
          using opened = temporaryJournal()
          for (const { principal, share, job } of all) {
            const labels = share === undefined ? { job } : { job, share }
            opened.journal.create(owned(principal, labels), null)
          }
          const sees = viewer(who)
          const wanted = listed(opened.reader, {
            limit: 1000,
            labels: { job: "a" },
          }).records.filter(({ principal, spec }) =>
            sees.maySee({ principal, labels: spec.labels }),
          )

          const found: string[] = []
          for (let cursor: string | undefined; ; ) {
            const page = opened.reader.list({ limit, cursor, labels: { job: "a" } }, sees)
            found.push(...(page?.records ?? []).map(({ id }) => id))
            if (page === null || page.cursor === null) break
            cursor = page.cursor
          }
          expect(found).toEqual(wanted.map(({ id }) => id))
        },
      ),
      { numRuns: 25 },
    )
  })

  test("has a cursor where another page follows, and none where nothing does", () => {
    using opened = temporaryJournal()
    for (const principal of ["bob", "alice", "bob", "alice", "alice", "bob"]) {
      opened.journal.create(owned(principal), null)
    }
    const page = (limit: number, cursor?: string) => {
      const found = opened.reader.list({ limit, cursor }, viewer("alice"))
      return { count: found?.records.length, cursor: found?.cursor ?? undefined }
    }

    const first = page(2)

    expect(first.count).toBe(2)
    expect(first.cursor).toBeString()
    expect(page(1, first.cursor)).toEqual({ count: 1, cursor: undefined })
    expect(page(3)).toEqual({ count: 3, cursor: undefined })
    expect(page(4)).toEqual({ count: 3, cursor: undefined })
  })

  test("goes along indexes, and sorts nothing", () => {
    using opened = temporaryJournal()
    using database = new Database(opened.path, { readonly: true })
    using statement = database.prepare(`EXPLAIN QUERY PLAN ${visibleSql.ordinals}`)
    const plan = JSON.stringify(statement.all("alice", 1, 1))

    expect(plan).toContain("executions_by_principal")
    expect(plan).not.toContain("SCAN executions")
    expect(plan).not.toMatch(/TEMP B-TREE FOR ORDER BY.*executions/)
  })
})

describe("a beginning of an id", () => {
  test("leads to what may be seen alone, also where others begin the same", () => {
    using opened = temporaryJournal()
    const [mine, theirs, shared] = ["abca", "abcb", "abdc"].map((start) => start.padEnd(26, "a"))
    opened.journal.create({ ...owned("alice"), id: mine ?? "" }, null)
    opened.journal.create({ ...owned("bob"), id: theirs ?? "" }, null)
    opened.journal.create({ ...owned("bob", { share: "alice" }), id: shared ?? "" }, null)

    expect(opened.reader.withPrefix("abc", 2, viewer("alice"))).toEqual([mine ?? ""])
    expect(opened.reader.withPrefix("abcb", 2, viewer("alice"))).toEqual([])
    expect(opened.reader.withPrefix("abd", 2, viewer("alice"))).toEqual([shared ?? ""])
    expect(opened.reader.withPrefix("abc", 2)).toEqual([mine ?? "", theirs ?? ""])
  })
})

describe("the owner", () => {
  test("is told with the labels that share, and no others", () => {
    using opened = temporaryJournal()
    const record = owned("bob", { share: 'al"ice', "share-control": "c", job: "7" })
    opened.journal.create(record, null)

    expect(opened.reader.owned(record.id)).toEqual({
      principal: "bob",
      labels: { share: 'al"ice', "share-control": "c" },
    })
    expect(opened.reader.owned(queued().id)).toBeNull()
  })
})
