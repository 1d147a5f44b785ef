import { describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openJournal } from "../../../../src/service/storage/journal/journal.ts"
import { openJournalReader } from "../../../../src/service/storage/journal/journal-reader.ts"
import { statePathsIn } from "../../../../src/service/storage/state-paths.ts"
import { live, queued } from "./sample-executions.ts"
import {
  failureOf,
  rawRows,
  stillClock,
  succeeded,
  temporaryDirectory,
} from "./temporary-journal.ts"

describe("a journal that is not there yet", () => {
  test("is made, at the newest version, for its owner only", () => {
    using directory = temporaryDirectory()
    const path = statePathsIn(directory.path).journal

    using _journal = succeeded(openJournal(path, stillClock()))

    expect(rawRows(path, "PRAGMA user_version")).toEqual([{ user_version: 4 }])
    expect(rawRows(path, "PRAGMA journal_mode")).toEqual([{ journal_mode: "wal" }])
    for (const name of readdirSync(directory.path)) {
      expect(statSync(join(directory.path, name)).mode & 0o777).toBe(0o600)
    }
  })

  test("is a clear failure for a reader, which makes none", () => {
    using directory = temporaryDirectory()
    const path = statePathsIn(directory.path).journal

    const failure = failureOf(openJournalReader(path))

    expect(failure.kind).toBe("missing")
    expect(failure.message).toContain(path)
    expect(readdirSync(directory.path)).toEqual([])
  })
})

describe("a journal that was closed", () => {
  test("is one file: the log is in it and gone", () => {
    using directory = temporaryDirectory()

    writeOne(statePathsIn(directory.path).journal)

    expect(readdirSync(directory.path)).toEqual(["journal.sqlite"])
  })

  test("is opened again with everything in it", () => {
    using directory = temporaryDirectory()
    const path = statePathsIn(directory.path).journal
    const record = writeOne(path)

    using journal = succeeded(openJournal(path, stillClock()))

    expect(journal.find(record.id)).toEqual(record)
  })

  test("is read while nobody writes", () => {
    using directory = temporaryDirectory()
    const path = statePathsIn(directory.path).journal
    const record = writeOne(path)

    using reader = succeeded(openJournalReader(path))

    expect(reader.find(record.id)).toEqual(record)
  })

  test("has an empty log when a reader still has it open", () => {
    using directory = temporaryDirectory()
    const path = statePathsIn(directory.path).journal
    const journal = succeeded(openJournal(path, stillClock()))
    using reader = succeeded(openJournalReader(path))
    const record = live(journal)

    journal[Symbol.dispose]()

    expect(statSync(`${path}-wal`).size).toBe(0)
    expect(reader.find(record.id)).toEqual(record)
  })
})

describe("a journal of a newer version", () => {
  test("is refused by writer and reader alike, and left as it is", () => {
    using directory = temporaryDirectory()
    const path = statePathsIn(directory.path).journal
    writeOne(path)
    rawRows(path, "PRAGMA user_version = 7")

    for (const failure of [
      failureOf(openJournal(path, stillClock())),
      failureOf(openJournalReader(path)),
    ]) {
      expect(failure).toMatchObject({ kind: "newer", path, found: 7, known: 4 })
      expect(failure.message).toContain("run the newer cc-executor")
    }
    expect(rawRows(path, "PRAGMA user_version")).toEqual([{ user_version: 7 }])
  })
})

describe("a journal of an older version", () => {
  test("is refused by a reader, which cannot bring it up to date", () => {
    using directory = temporaryDirectory()
    const path = statePathsIn(directory.path).journal
    rawRows(path, "PRAGMA journal_mode = WAL")

    expect(failureOf(openJournalReader(path))).toMatchObject({ kind: "older", found: 0, known: 4 })
  })

  test("is brought up to date by the writer", () => {
    using directory = temporaryDirectory()
    const path = statePathsIn(directory.path).journal
    rawRows(path, "PRAGMA journal_mode = WAL")

    const record = writeOne(path)

    using reader = succeeded(openJournalReader(path))
    expect(reader.find(record.id)).toEqual(record)
  })
})

describe("a journal of an older version that is to be brought up to date when told", () => {
  test("is the older one for others until then", () => {
    using directory = temporaryDirectory()
    const path = statePathsIn(directory.path).journal
    rawRows(path, "PRAGMA journal_mode = WAL")
    using journal = succeeded(openJournal(path, stillClock(), "when told"))
    expect(rawRows(path, "PRAGMA user_version")).toEqual([{ user_version: 0 }])

    journal.keepMigration()

    expect(rawRows(path, "PRAGMA user_version")).toEqual([{ user_version: 4 }])
    const record = live(journal)
    expect(journal.find(record.id)).toEqual(record)
  })

  test("stays the older one when whoever opened it is never told", () => {
    using directory = temporaryDirectory()
    const path = statePathsIn(directory.path).journal
    rawRows(path, "PRAGMA journal_mode = WAL")

    succeeded(openJournal(path, stillClock(), "when told"))[Symbol.dispose]()

    expect(rawRows(path, "PRAGMA user_version")).toEqual([{ user_version: 0 }])
    expect(rawRows(path, "SELECT name FROM sqlite_master")).toEqual([])
  })
})

describe("a path that cannot be a journal", () => {
  test.each([
    [
      "a file of something else",
      (path: string) => writeFileSync(path, "not a database ".repeat(99)),
    ],
    ["a directory", (path: string) => mkdirSync(path)],
  ])("%s is a failure that names it", (_, make) => {
    using directory = temporaryDirectory()
    const path = statePathsIn(directory.path).journal
    make(path)

    for (const failure of [
      failureOf(openJournal(path, stillClock())),
      failureOf(openJournalReader(path)),
    ]) {
      expect(failure.kind).toBe("unusable")
      expect(failure.message).toContain(path)
    }
  })

  test("a directory that is missing is a failure that names it", () => {
    using directory = temporaryDirectory()
    const path = statePathsIn(join(directory.path, "nowhere")).journal

    expect(failureOf(openJournal(path, stillClock())).message).toContain(path)
  })
})

describe("the log beside the journal", () => {
  test("does not grow with the number of writes", () => {
    using directory = temporaryDirectory()
    const path = statePathsIn(directory.path).journal
    using journal = succeeded(openJournal(path, stillClock()))
    using _reader = succeeded(openJournalReader(path))

    for (let made = 0; made < 1_500; made += 1) live(journal) // some 90 MB of log in all

    expect(statSync(`${path}-wal`).size).toBeLessThan(8_500_000)
  })
})

function writeOne(path: string) {
  using journal = succeeded(openJournal(path, stillClock()))
  return live(journal, queued())
}
