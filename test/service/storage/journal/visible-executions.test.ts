import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { maySee } from "../../../../src/service/access/permission.ts"
import { listPage } from "../../../../src/service/gateway/operations/list-page.ts"
import type { JournalReader, Viewer } from "../../../../src/service/gateway/ports.ts"
import { openJournal } from "../../../../src/service/storage/journal/journal.ts"
import { openJournalReader } from "../../../../src/service/storage/journal/journal-reader.ts"
import { bearer } from "../../../support/callers.ts"
import { live, queued } from "./sample-executions.ts"
import { listed, rawRows, succeeded, temporaryJournal } from "./temporary-journal.ts"

function viewer(principal: string): Viewer {
  const caller = bearer(principal, "read")
  return { principal, maySee: (one) => maySee(caller, one) }
}

function owned(principal: string, labels: Record<string, string> = {}) {
  const record = queued({ principal })
  return { ...record, spec: { ...record.spec, labels } }
}

const sees = viewer("alice")

/** A reader that tells how many executions were looked at for all its pages together. */
function countingLooks(reader: JournalReader) {
  let looked = 0
  return {
    list(...[filter, whose, looks = { left: 0 }]: Parameters<JournalReader["list"]>) {
      const before = looks.left
      const page = reader.list(filter, whose, looks)
      looked += before - looks.left
      return page
    },
    takeLooks() {
      const taken = looked
      looked = 0
      return taken
    },
  }
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
    const guests = fc.constantFrom("alice", "bob", "carol", "*", "", 'al"ice', "alice b", "alic\\")
    const space = fc.constantFrom("", " ", "\t\n", "\u00a0\u2003\ufeff", "\u2028")
    const guestLists = fc
      .array(fc.tuple(space, guests, space), { maxLength: 3 })
      .map((names) => names.map((parts) => parts.join("")).join(","))
    const shares = fc.option(guestLists, { nil: undefined })
    const one = fc.record({
      principal: principals,
      share: shares,
      shareControl: shares,
      job: fc.constantFrom("a", "b"),
      hasEnded: fc.boolean(),
    })
    const filters = fc.record({
      labels: fc.constantFrom(undefined, { job: "a" }),
      state: fc.constantFrom(undefined, "queued", "ended"),
    })
    fc.assert(
      fc.property(
        fc.array(one, { maxLength: 30 }),
        principals,
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 20 }),
        filters,
        (all, who, limit, mostLooks, filter) => {
          using opened = temporaryJournal()
          for (const { principal, share, shareControl, job, hasEnded } of all) {
            const labels = {
              job,
              ...(share === undefined ? {} : { share }),
              ...(shareControl === undefined ? {} : { "share-control": shareControl }),
            }
            const record = owned(principal, labels)
            if (hasEnded) live(opened.journal, record)
            else opened.journal.create(record, null)
          }
          const whose = viewer(who)
          const everything = listed(opened.reader, { limit: 1000, ...filter })
          const wanted = everything.records.filter(({ principal, spec }) =>
            whose.maySee({ principal, labels: spec.labels }),
          )

          const found: string[] = []
          for (let cursor: string | undefined; ; ) {
            const looks = { left: mostLooks }
            const page = opened.reader.list({ limit, cursor, ...filter }, whose, looks)
            found.push(...(page?.records ?? []).map(({ id }) => id))
            if (page === null || page.cursor === null) break
            cursor = page.cursor
          }
          expect(found).toEqual(wanted.map(({ id }) => id))
        },
      ),
      { numRuns: 50 },
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
})

describe("who shares what with whom", () => {
  const guestsIn = (path: string) =>
    rawRows(path, "SELECT guest, execution FROM shares ORDER BY guest, execution")

  test("is looked at for those who may see it, and nobody else", async () => {
    using opened = temporaryJournal()
    for (let nth = 1; nth <= 300; nth += 1) {
      opened.journal.create(owned("bob", { share: nth % 100 === 0 ? "alice" : "carol" }), null)
    }
    const counted = countingLooks(opened.reader)

    const page = await listPage(counted, { limit: 100 }, sees)

    expect([page?.records.length, page?.cursor]).toEqual([3, null])
    expect(counted.takeLooks()).toBe(3)
  })

  test("is forgotten with the execution", () => {
    using opened = temporaryJournal()
    const shared = owned("bob", { share: "alice, carol,alice", "share-control": "carol,*" })
    const removed = live(opened.journal, shared)
    live(opened.journal, owned("bob", { share: "alice", shared: "dave" }))
    expect(guestsIn(opened.path)).toHaveLength(4)

    opened.journal.remove(removed.id)

    expect(guestsIn(opened.path)).toEqual([{ guest: "alice", execution: 2 }])
  })

  test("is found in a journal that was written before it was noted", () => {
    using opened = temporaryJournal()
    const records = ["alice", " bob , alice", "*", "carol"].map((share) => owned("bob", { share }))
    for (const record of records) opened.journal.create(record, null)
    const noted = guestsIn(opened.path)
    asBeforeShares(opened.path)

    using journal = succeeded(openJournal(opened.path, opened.clock))
    journal.create(owned("bob", { share: "alice" }), null)

    using reader = succeeded(openJournalReader(opened.path))
    expect(reader.list({ limit: 10 }, sees)?.records).toHaveLength(4)
    expect(guestsIn(opened.path).filter((row) => !JSON.stringify(row).includes(":5"))).toEqual(
      noted,
    )
  })

  test("is no reason to refuse a journal that no service has opened since", () => {
    using opened = temporaryJournal()
    const record = owned("bob", { share: "alice" })
    opened.journal.create(record, null)
    asBeforeShares(opened.path)

    using reader = succeeded(openJournalReader(opened.path))

    expect(reader.find(record.id)).toEqual(record)
    expect(reader.list({ limit: 10 })?.records).toEqual([record])
  })
})

/** As a program left it that knew nothing of the table of shares. */
function asBeforeShares(path: string): void {
  for (const trigger of ["label_is_name", "label_shares_name", "execution_no_longer_named"]) {
    rawRows(path, `DROP TRIGGER ${trigger}`)
  }
  rawRows(path, "DROP VIEW label_names")
  rawRows(path, "DROP TABLE names")
  rawRows(path, "DROP TRIGGER label_shares")
  rawRows(path, "DROP TRIGGER label_no_longer_shares")
  rawRows(path, "DROP VIEW label_guests")
  rawRows(path, "DROP TABLE shares")
  expect(rawRows(path, "SELECT name FROM sqlite_schema WHERE name LIKE '%share%'")).toEqual([])
}

describe("a page for one principal with many executions", () => {
  const many = 2500

  test("by label or live state looks at those alone, and knows that nothing follows", async () => {
    using opened = temporaryJournal()
    for (let nth = 1; nth <= many; nth += 1) {
      const record = owned("alice", nth % 100 === 0 ? { job: "a", all: "1" } : { all: "1" })
      if (nth % 50 === 0) opened.journal.create(record, null)
      else live(opened.journal, record)
    }
    const counted = countingLooks(opened.reader)

    const labelled = await listPage(counted, { limit: 100, labels: { job: "a", all: "1" } }, sees)
    const labelledLooks = counted.takeLooks()
    const queuedOnes = await listPage(counted, { limit: 100, state: "queued" }, sees)
    const queuedLooks = counted.takeLooks()

    expect([labelled?.records.length, labelled?.cursor]).toEqual([25, null])
    expect([queuedOnes?.records.length, queuedOnes?.cursor]).toEqual([50, null])
    // Each once, and the first of a part as the one too many of the part before.
    expect(labelledLooks).toBe(25 + 3)
    expect(queuedLooks).toBe(50 + 6)
  })

  test("looks at its own where a label is on many more of others", async () => {
    using opened = temporaryJournal()
    for (let nth = 1; nth <= 200; nth += 1) {
      opened.journal.create(owned(nth % 20 === 0 ? "alice" : "bob", { job: "a" }), null)
    }
    const counted = countingLooks(opened.reader)

    const page = await listPage(counted, { limit: 100, labels: { job: "a" } }, sees)

    expect(page?.records).toHaveLength(10)
    expect(counted.takeLooks()).toBe(10 + 1)
  })

  test("ends early where no index leads to what is asked, and goes on at its cursor", async () => {
    using opened = temporaryJournal()
    for (let nth = 1; nth <= many; nth += 1) {
      if (nth % 100 === 0) live(opened.journal, owned("alice"))
      else opened.journal.create(owned("alice"), null)
    }
    const counted = countingLooks(opened.reader)

    const first = await listPage(counted, { limit: 100, state: "ended" }, sees)
    const firstLooks = counted.takeLooks()
    const cursor = first?.cursor ?? undefined
    const second = await listPage(counted, { limit: 100, state: "ended", cursor }, sees)

    expect(firstLooks).toBe(2000)
    expect(cursor).toBeString()
    expect((first?.records.length ?? 0) + (second?.records.length ?? 0)).toBe(25)
    expect(second?.cursor).toBeNull()
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
