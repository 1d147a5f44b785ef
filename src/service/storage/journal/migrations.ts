import type { Database } from "bun:sqlite"
import { z } from "zod"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { JournalFailure } from "./journal-failure.ts"
import initial from "./migrations/0001-initial.sql" with { type: "text" }
import principals from "./migrations/0002-principals.sql" with { type: "text" }

/** The place in the list is the version it leads to. What was released is never edited. */
const migrations: readonly string[] = [initial, principals]
export const journalVersion = migrations.length
const known = journalVersion

/** Brings a database of any earlier version up to this program's. */
export function migrate(database: Database, path: string): Result<null, JournalFailure> {
  const found = versionOf(database)
  if (found > known) return fail(newer(path, found))

  migrations.slice(found).forEach((sql, at) => {
    database.transaction(() => {
      database.run(sql)
      database.run(`PRAGMA user_version = ${found + at + 1}`)
    })()
  })
  return ok(null)
}

/** A reader may not migrate, so it takes exactly the version it knows. */
export function checkVersion(database: Database, path: string): Result<null, JournalFailure> {
  const found = versionOf(database)
  if (found > known) return fail(newer(path, found))
  if (found < known) return fail(older(path, found))
  return ok(null)
}

function versionOf(database: Database): number {
  using statement = database.prepare<unknown, []>("PRAGMA user_version")
  return z.object({ user_version: z.int() }).parse(statement.get()).user_version
}

function newer(path: string, found: number): JournalFailure {
  const message =
    `the journal ${path} has version ${found}, but this program knows only up to ${known}; ` +
    "run the newer cc-executor that wrote it, or choose another --state-dir"
  return { kind: "newer", path, found, known, message }
}

function older(path: string, found: number): JournalFailure {
  const message =
    `the journal ${path} has version ${found}, but this program reads version ${known}; ` +
    "start `cc-executor serve` once to migrate the journal"
  return { kind: "older", path, found, known, message }
}
