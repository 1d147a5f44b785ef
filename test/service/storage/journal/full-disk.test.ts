import { describe, expect, test } from "bun:test"
import assert from "node:assert/strict"
import { rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Journal } from "../../../../src/service/keeper/ports.ts"
import { openJournal } from "../../../../src/service/storage/journal/journal.ts"
import { JournalFullError } from "../../../../src/service/storage/journal/journal-failure.ts"
import { openJournalReader } from "../../../../src/service/storage/journal/journal-reader.ts"
import { statePathsIn } from "../../../../src/service/storage/state-paths.ts"
import { admitted, after, live, queued, someReceipt } from "./sample-executions.ts"
import {
  eventsOf,
  failureOf,
  rawRows,
  stillClock,
  succeeded,
  temporaryDirectory,
} from "./temporary-journal.ts"

const mayMount = process.getuid?.() === 0 && Bun.which("mount") !== null
const reason = mayMount ? "" : " (skipped: mounting a small disk needs root)"

describe.skipIf(!mayMount)(`a disk that is full${reason}`, () => {
  test("is a typed error with nothing half written, and with room the same call succeeds", () => {
    using disk = smallDisk(6)
    const path = statePathsIn(disk.path).journal
    const ballast = disk.ballast(256)
    using journal = succeeded(openJournal(path, stillClock()))
    const record = queued()
    journal.create(record, null)
    fill(journal)

    const starting = after(record, admitted)
    const append = () => journal.append(admitted, starting)
    expect(append).toThrow(JournalFullError)
    expect(append).toThrow(`${path} could not be written (SQLITE_`)
    expect(journal.find(record.id)).toEqual(record)
    ballast.free()
    append()

    expect(journal.find(record.id)).toEqual(starting)
    expect(eventsOf(path, record.id)).toEqual([admitted])
    expect(rawRows(path, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }])
  })

  // How full log and file are when the disk is depends on its size.
  test.each([5, 6, 7, 8, 10, 12])("of %d MB leaves what is freed to the ends to come", (size) => {
    using disk = smallDisk(size)
    const ballast = disk.ballast(1024)
    using journal = succeeded(openJournal(statePathsIn(disk.path).journal, stillClock()))
    const records = Array.from({ length: 32 }, () => queued())
    for (const record of records) journal.create(record, null)
    fill(journal)

    ballast.free()
    for (const record of records) {
      const event = { kind: "stop-requested", cause: "disk-full" } as const
      journal.end([event], after(record, event), someReceipt)
    }

    expect(records.map(({ id }) => journal.find(id)?.state.kind)).not.toContain("queued")
  })

  test("is forgotten when there is room: the log is copied and short again", () => {
    using disk = smallDisk(6)
    const path = statePathsIn(disk.path).journal
    using journal = succeeded(openJournal(path, stillClock()))
    fill(journal)

    disk.grow(64)
    for (let made = 0; made < 1_000; made += 1) live(journal) // some 60 MB of log in all

    expect(statSync(`${path}-wal`).size).toBeLessThan(8_500_000)
  })

  test("does not keep the journal from being read, nor closed, nor opened with room again", () => {
    using disk = smallDisk(4)
    const path = statePathsIn(disk.path).journal
    const journal = succeeded(openJournal(path, stillClock()))
    const record = live(journal)
    fill(journal)

    expect(journal.find(record.id)).toEqual(record)
    expect(readFrom(path, record.id)).toEqual(record)
    journal[Symbol.dispose]()

    disk.grow(16)
    using reopened = succeeded(openJournal(path, stillClock()))
    expect(reopened.find(record.id)).toEqual(record)
    live(reopened)
  })

  test("from the start is a failure that says so", () => {
    using disk = smallDisk(1)
    disk.ballast(1024)

    const failure = failureOf(openJournal(statePathsIn(disk.path).journal, stillClock()))

    expect(failure).toMatchObject({ kind: "full", path: statePathsIn(disk.path).journal })
    expect(failure.message).toContain("free space")
  })
})

/** Journals until there is no room. */
function fill(journal: Journal): void {
  const wide = "x".repeat(20_000)
  for (let made = 0; made < 10_000; made += 1) {
    try {
      journal.create(queued({ principal: wide }), null)
    } catch (error) {
      if (!(error instanceof JournalFullError)) throw error
      return
    }
  }
  assert.fail("the disk never filled")
}

function readFrom(path: string, id: string) {
  using reader = succeeded(openJournalReader(path))
  return reader.find(id)
}

/** A file system in memory of a given size. */
function smallDisk(megabytes: number) {
  using opened = new DisposableStack()
  const { path } = opened.use(temporaryDirectory())
  run("mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path)
  opened.defer(() => run("umount", "--lazy", path))
  const kept = opened.move()
  return {
    path,
    ballast: (kilobytes: number) => {
      const file = join(path, "ballast")
      writeFileSync(file, new Uint8Array(kilobytes * 1024))
      return { free: () => rmSync(file) }
    },
    grow: (to: number) => run("mount", "-o", `remount,size=${to}m`, path),
    [Symbol.dispose]: () => kept.dispose(),
  }
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command)
  assert.equal(exitCode, 0, `${command.join(" ")}: ${stderr.toString()}`)
}
