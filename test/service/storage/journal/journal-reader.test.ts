import { describe, expect, test } from "bun:test"
import type { JournalReader } from "../../../../src/service/gateway/ports.ts"
import { openForReading } from "../../../../src/service/storage/journal/connection.ts"
import { JournalDamagedError } from "../../../../src/service/storage/journal/journal-failure.ts"
import { admitted, after, labelled, live, queued, someReceipt } from "./sample-executions.ts"
import { listed, rawRows, succeeded, temporaryJournal } from "./temporary-journal.ts"

const id = (beginning: string) => beginning.padEnd(26, "a")

describe("a reader", () => {
  test("is what the gateway asks for", () => {
    using opened = temporaryJournal()
    const reader: JournalReader = opened.reader

    expect(reader.find(queued().id)).toBeNull()
  })

  test("sees each write as soon as it is done", () => {
    using opened = temporaryJournal()
    const record = queued()

    opened.journal.create(record, null)
    expect(opened.reader.find(record.id)).toEqual(record)

    const starting = after(record, admitted)
    opened.journal.append(admitted, starting)
    expect(opened.reader.find(record.id)).toEqual(starting)
  })

  test("has a connection that cannot write", () => {
    using opened = temporaryJournal()
    using connection = succeeded(openForReading(opened.path))

    expect(() => connection.run("DELETE FROM executions")).toThrow("readonly")
  })
})

describe("the receipt", () => {
  test("of an ended execution is the envelope that was signed", () => {
    using opened = temporaryJournal()
    const record = live(opened.journal)

    expect(opened.reader.receipt(record.id)).toEqual(someReceipt)
  })

  test("of a live or unknown execution is null", () => {
    using opened = temporaryJournal()
    const record = queued()
    opened.journal.create(record, null)

    expect(opened.reader.receipt(record.id)).toBeNull()
    expect(opened.reader.receipt(queued().id)).toBeNull()
  })

  test("that was damaged is an error that names the execution and the file", () => {
    using opened = temporaryJournal()
    const record = live(opened.journal)
    rawRows(opened.path, `UPDATE receipts SET envelope = '{"payload":1}'`)

    const read = () => opened.reader.receipt(record.id)

    expect(read).toThrow(JournalDamagedError)
    expect(read).toThrow(`the receipt of execution ${record.id} cannot be read`)
    expect(read).toThrow(opened.path)
  })
})

describe("ids by their beginning", () => {
  test("are those that begin so, and no neighbours", () => {
    using opened = temporaryJournal()
    for (const beginning of ["abc", "abcz", "abc7", "abd", "abb", "z"]) {
      opened.journal.create(queued({ id: id(beginning) }), null)
    }

    expect(opened.reader.withPrefix("abc", 10)).toEqual([id("abc7"), id("abc"), id("abcz")])
    expect(opened.reader.withPrefix("z", 10)).toEqual([id("z")])
    expect(opened.reader.withPrefix(id("abd"), 10)).toEqual([id("abd")])
    expect(opened.reader.withPrefix("q", 10)).toEqual([])
  })

  test("are at most as many as asked for", () => {
    using opened = temporaryJournal()
    for (const beginning of ["aa", "ab", "ac"]) {
      opened.journal.create(queued({ id: id(beginning) }), null)
    }

    expect(opened.reader.withPrefix("a", 2)).toHaveLength(2)
  })
})

describe("a list", () => {
  test("is newest first, page by page, each execution once", () => {
    using opened = temporaryJournal()
    const made = Array.from({ length: 7 }, () => live(opened.journal))

    const first = listed(opened.reader, { limit: 3 })
    live(opened.journal) // what is new meanwhile does not shift the pages
    const second = listed(opened.reader, { limit: 3, cursor: first.cursor ?? undefined })
    const third = listed(opened.reader, { limit: 3, cursor: second.cursor ?? undefined })

    const pages = [first, second, third]
    expect(pages.flatMap(({ records }) => records)).toEqual(made.toReversed())
    expect(pages.map(({ records }) => records.length)).toEqual([3, 3, 1])
    expect(third.cursor).toBeNull()
  })

  test("has no further page when the last one is just full", () => {
    using opened = temporaryJournal()
    live(opened.journal)
    live(opened.journal)

    expect(listed(opened.reader, { limit: 2 }).cursor).toBeNull()
  })

  test("goes on where it was when the execution at its cursor is removed", () => {
    using opened = temporaryJournal()
    const [oldest, removed] = [live(opened.journal), live(opened.journal)]
    const { cursor } = listed(opened.reader, { limit: 1 })

    opened.journal.remove(removed.id)

    expect(listed(opened.reader, { limit: 5, cursor: cursor ?? undefined }).records).toEqual([
      oldest,
    ])
  })

  test.each(["", "0", "-1", "1.5", "x", "1e3", "9".repeat(64)])(
    "refuses the cursor %p",
    (cursor) => {
      using opened = temporaryJournal()

      expect(opened.reader.list({ limit: 1, cursor })).toBeNull()
    },
  )

  test("by state has those in that state", () => {
    using opened = temporaryJournal()
    const ended = live(opened.journal)
    const record = queued()
    opened.journal.create(record, null)
    const starting = after(queued(), admitted)
    opened.journal.create({ ...starting, state: { kind: "queued" } }, null)
    opened.journal.append(admitted, starting)

    const inState = (state: "ended" | "queued" | "starting" | "paused") =>
      listed(opened.reader, { state, limit: 10 }).records

    expect(inState("ended")).toEqual([ended])
    expect(inState("queued")).toEqual([record])
    expect(inState("starting")).toEqual([starting])
    expect(inState("paused")).toEqual([])
  })

  test("by labels has those with all of them, in pages", () => {
    using opened = temporaryJournal()
    const both = live(opened.journal, labelled({ project: "x", run: "1", note: "" }))
    const other = live(opened.journal, labelled({ project: "x", run: "2" }))
    live(opened.journal, labelled({ project: "y", run: "1" }))
    live(opened.journal)

    const having = (labels: Record<string, string>, limit = 10, cursor?: string) =>
      listed(opened.reader, { labels, limit, cursor })

    expect(having({ project: "x" }).records).toEqual([other, both])
    expect(having({ project: "x", run: "1" }).records).toEqual([both])
    expect(having({ note: "" }).records).toEqual([both])
    expect(having({ project: "x", run: "3" }).records).toEqual([])
    expect(having({}).records).toHaveLength(4)
    const page = having({ project: "x" }, 1)
    expect(page.records).toEqual([other])
    expect(having({ project: "x" }, 1, page.cursor ?? undefined)).toEqual({
      records: [both],
      cursor: null,
    })
  })

  test("by labels and state has those that fit both", () => {
    using opened = temporaryJournal()
    const ended = live(opened.journal, labelled({ project: "x" }))
    const waiting = labelled({ project: "x" })
    opened.journal.create(waiting, null)
    opened.journal.create(labelled({ project: "y" }), null)
    live(opened.journal, labelled({ project: "y" }))
    const labels = { project: "x" }

    expect(listed(opened.reader, { labels, state: "ended", limit: 9 }).records).toEqual([ended])
    expect(listed(opened.reader, { labels, state: "queued", limit: 9 }).records).toEqual([waiting])
    expect(listed(opened.reader, { labels, state: "running", limit: 9 }).records).toEqual([])
  })

  test("does not take the text of one label for another", () => {
    using opened = temporaryJournal()
    const odd = live(opened.journal, labelled({ 'a","b': "c", "%": "_", é: "\u0000" }))
    live(opened.journal, labelled({ a: 'b","c', "%x": "_y" }))

    for (const [name, value] of Object.entries(odd.spec.labels)) {
      expect(listed(opened.reader, { labels: { [name]: value }, limit: 9 }).records).toEqual([odd])
    }
  })
})
