import { describe, expect, test } from "bun:test"
import type { ExecutionRecord } from "../../../../src/execution/record.ts"
import { JournalDamagedError } from "../../../../src/service/storage/journal/journal-failure.ts"
import {
  admitted,
  after,
  emptied,
  exited,
  labelled,
  live,
  queued,
  someReceipt,
  started,
} from "./sample-executions.ts"
import { eventsOf, listed, rawRows, temporaryJournal } from "./temporary-journal.ts"

describe("an execution that was created", () => {
  test("is found as it was written, spec and labels included", () => {
    using opened = temporaryJournal()
    const record = labelled({ project: "x", 'a "quoted"\u0000name': "\ud83d\ude00" })

    opened.journal.create(record, null)

    expect(opened.journal.find(record.id)).toEqual(record)
  })

  test("cannot be created a second time, and the first stays", () => {
    using opened = temporaryJournal()
    const record = queued()
    opened.journal.create(record, null)

    expect(() => opened.journal.create({ ...record, principal: "bob" }, null)).toThrow("UNIQUE")

    expect(opened.journal.find(record.id)).toEqual(record)
  })

  test("is not there for another id", () => {
    using opened = temporaryJournal()

    opened.journal.create(queued(), null)

    expect(opened.journal.find(queued().id)).toBeNull()
  })
})

describe("an event", () => {
  test("is kept beside the record as it is after it", () => {
    using opened = temporaryJournal()
    const record = queued()
    opened.journal.create(record, null)

    const starting = after(record, admitted)
    opened.journal.append(admitted, starting)
    const running = { ...after(starting, started), leader: { pid: 4711, startTicks: 99 } }
    opened.journal.append(started, running)

    expect(opened.journal.find(record.id)).toEqual(running)
    expect(eventsOf(opened.path, record.id)).toEqual([admitted, started])
  })

  test("has the time it was journaled at", () => {
    using opened = temporaryJournal()
    const record = queued()
    opened.journal.create(record, null)

    opened.clock.set(new Date("2026-11-16T09:30:00.123Z"))
    opened.journal.append(admitted, after(record, admitted))

    const at = Date.parse("2026-11-16T09:30:00.123Z")
    expect(rawRows(opened.path, "SELECT at_ms FROM events")).toEqual([{ at_ms: at }])
  })

  test("of an execution nobody created is refused, and leaves nothing", () => {
    using opened = temporaryJournal()
    const unknown = after(queued(), admitted)

    expect(() => opened.journal.append(admitted, unknown)).toThrow("is not in the journal")

    expect(rawRows(opened.path, "SELECT * FROM events")).toEqual([])
  })

  test("after the end is refused, and leaves nothing", () => {
    using opened = temporaryJournal()
    const record = live(opened.journal)

    expect(() => opened.journal.append(started, { ...queued(), id: record.id })).toThrow("ended")

    expect(opened.journal.find(record.id)).toEqual(record)
    expect(eventsOf(opened.path, record.id)).toEqual([admitted, started, exited, emptied])
  })
})

describe("a change of the record without an event", () => {
  test("is kept", () => {
    using opened = temporaryJournal()
    const record = queued()
    opened.journal.create(record, null)

    opened.journal.update({ ...record, stdinBytes: 12, blocked: true })

    expect(opened.journal.find(record.id)).toEqual({ ...record, stdinBytes: 12, blocked: true })
  })

  test("is kept after the end too", () => {
    using opened = temporaryJournal()
    const record = live(opened.journal)

    opened.journal.update({ ...record, survivors: [{ pid: 5, command: "sleep" }] })

    expect(opened.journal.find(record.id)?.survivors).toHaveLength(1)
  })

  test("brings the state along, should its event have found no room", () => {
    using opened = temporaryJournal()
    const record = queued()
    opened.journal.create(record, null)
    const starting = after(record, admitted)

    opened.journal.update(starting)

    expect(listed(opened.reader, { state: "starting", limit: 9 }).records).toEqual([starting])
  })

  test("neither makes an end nor undoes one", () => {
    using opened = temporaryJournal()
    const [record, ended] = [queued(), live(opened.journal)]
    opened.journal.create(record, null)

    const lost = after(record, { kind: "lost", reason: "internal" })
    expect(() => opened.journal.update(lost)).toThrow("an end would change")
    expect(() => opened.journal.update({ ...record, id: ended.id })).toThrow("an end would change")

    expect(opened.journal.find(record.id)).toEqual(record)
    expect(opened.journal.find(ended.id)).toEqual(ended)
  })
})

describe("the end", () => {
  test("comes with its receipt, exactly as it was signed", () => {
    using opened = temporaryJournal()

    const record = live(opened.journal)

    expect(opened.journal.find(record.id)).toEqual(record)
    expect(rawRows(opened.path, "SELECT envelope FROM receipts")).toEqual([
      { envelope: JSON.stringify(someReceipt) },
    ])
  })

  test("happens once", () => {
    using opened = temporaryJournal()
    const record = live(opened.journal)

    expect(() => opened.journal.end([emptied], record, someReceipt)).toThrow("has ended there")
  })

  test("is never written without a receipt", () => {
    using opened = temporaryJournal()
    const record = queued()
    opened.journal.create(record, null)
    const lost = after(record, { kind: "lost", reason: "internal" })

    expect(() => opened.journal.append({ kind: "lost", reason: "internal" }, lost)).toThrow(
      "without its receipt",
    )
    expect(() => opened.journal.create({ ...lost, id: queued().id }, null)).toThrow(
      "without its receipt",
    )
  })

  test("is never a receipt without an end", () => {
    using opened = temporaryJournal()
    const record = queued()
    opened.journal.create(record, null)

    expect(() => opened.journal.end([admitted], after(record, admitted), someReceipt)).toThrow(
      "before its end",
    )
  })
})

describe("the unfinished executions", () => {
  test("are those without an end, oldest first", () => {
    using opened = temporaryJournal()
    const [first, second, third] = [queued(), queued(), queued()]
    opened.journal.create(first, null)
    live(opened.journal, second)
    opened.journal.create(third, null)
    const starting = after(first, admitted)
    opened.journal.append(admitted, starting)

    expect(opened.journal.unfinished()).toEqual([starting, third])
  })
})

describe("kept transcripts", () => {
  const ending = (time: string, kept: { from: number; to: number }): [ExecutionRecord, Date] => {
    const record = queued()
    const { start, end } = record.transcript
    const transcript = {
      ...record.transcript,
      start: { ...start, sequence: kept.from },
      end: { ...end, sequence: kept.to },
    }
    return [{ ...record, transcript }, new Date(time)]
  }

  test("are told oldest end first, with what each retains, and not of the live", () => {
    using opened = temporaryJournal()
    const late = live(opened.journal, ...ending("2026-11-16T10:00:00.500Z", { from: 0, to: 7 }))
    const early = live(opened.journal, ...ending("2026-11-16T09:00:00.000Z", { from: 10, to: 90 }))
    opened.journal.create(queued(), null)

    expect(opened.journal.endedWithTranscript()).toEqual([
      { id: early.id, endedAt: "2026-11-16T09:00:00.000Z", bytes: 80 },
      { id: late.id, endedAt: "2026-11-16T10:00:00.500Z", bytes: 7 },
    ])
    expect(opened.journal.endedByPrincipal()).toEqual([
      { id: early.id, principal: early.principal, bytes: 80 },
      { id: late.id, principal: late.principal, bytes: 7 },
    ])
  })

  test("are not told once removed, while the record stays", () => {
    using opened = temporaryJournal()
    const record = live(opened.journal)

    opened.journal.transcriptRemoved(record.id)

    expect(opened.journal.endedWithTranscript()).toEqual([])
    expect(opened.journal.find(record.id)).toEqual(record)
  })
})

describe("removing an execution", () => {
  test("takes its events, labels and receipt with it", () => {
    using opened = temporaryJournal()
    const record = live(opened.journal, labelled({ project: "x" }))
    const other = live(opened.journal, labelled({ project: "x" }))

    opened.journal.remove(record.id)

    expect(opened.journal.find(record.id)).toBeNull()
    expect(opened.journal.find(other.id)).toEqual(other)
    for (const table of ["executions", "specs", "labels", "receipts"]) {
      expect(rawRows(opened.path, `SELECT 1 FROM ${table}`)).toHaveLength(1)
    }
    expect(rawRows(opened.path, "SELECT 1 FROM events")).toHaveLength(4)
  })

  test("is nothing new the second time", () => {
    using opened = temporaryJournal()
    const record = live(opened.journal)
    opened.journal.remove(record.id)

    opened.journal.remove(record.id)

    expect(opened.journal.find(record.id)).toBeNull()
  })

  test("is refused while it lives", () => {
    using opened = temporaryJournal()
    const record = queued()
    opened.journal.create(record, null)

    expect(() => opened.journal.remove(record.id)).toThrow("is live")

    expect(opened.journal.find(record.id)).toEqual(record)
  })
})

describe("a row that was damaged", () => {
  test.each([
    ["JSON that breaks off", `UPDATE executions SET record = substr(record, 1, 40)`],
    ["a state nobody knows", `UPDATE executions SET record = replace(record, 'queued', 'asleep')`],
    ["a record that is no object", `UPDATE executions SET record = 'null'`],
    ["a spec that breaks off", `UPDATE specs SET spec = '{'`],
  ])("with %s is an error that names the execution and the file", (_, damage) => {
    using opened = temporaryJournal()
    const record = queued()
    opened.journal.create(record, null)
    rawRows(opened.path, damage)

    const read = () => opened.journal.find(record.id)

    expect(read).toThrow(JournalDamagedError)
    expect(read).toThrow(`execution ${record.id} cannot be read from the journal ${opened.path}`)
  })
})
