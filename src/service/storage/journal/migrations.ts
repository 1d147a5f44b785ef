import type { Database } from "bun:sqlite"
import { z } from "zod"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { JournalFailure } from "./journal-failure.ts"
import initial from "./migrations/0001-initial.sql" with { type: "text" }
import principals from "./migrations/0002-principals.sql" with { type: "text" }
import trials from "./migrations/0003-trials.sql" with { type: "text" }
import notifications from "./migrations/0004-notifications.sql" with { type: "text" }
import names from "./migrations/names.sql" with { type: "text" }
import openRestarts from "./migrations/open-restarts.sql" with { type: "text" }
import shares from "./migrations/shares.sql" with { type: "text" }

/** The place in the list is the version it leads to. What was released is never edited. */
const migrations: readonly string[] = [initial, principals, trials, notifications]
export const journalVersion = migrations.length
const known = journalVersion

/**
 * Tables and indices that make something faster, and that SQLite itself keeps true. They are no
 * new version: a program that does not know them goes on with the journal, as it must when the next
 * program could not take over. A reader must do without one that is missing.
 */
const additions: ReadonlyArray<{ name: string; sql: string }> = [
  { name: "shares", sql: shares },
  { name: "names", sql: names }, // uses what comes with the shares
  { name: "open_restarts", sql: openRestarts },
]

/** Brings a database of any earlier version up to this program's, as a whole or not at all. */
export function migrate(
  database: Database,
  path: string,
  keep: "at once" | "when told",
): Result<null, JournalFailure> {
  const found = versionOf(database)
  if (found > known) return fail(newer(path, found))
  const missing = additions.filter(({ name }) => !isThere(database, name))
  if (found === known) {
    for (const { sql } of missing) database.transaction(() => database.run(sql))()
    return ok(null)
  }

  database.run("BEGIN IMMEDIATE")
  for (const sql of migrations.slice(found)) database.run(sql)
  for (const { sql } of missing) database.run(sql)
  database.run(`PRAGMA user_version = ${known}`)
  if (keep === "at once") keepMigration(database)
  return ok(null)
}

/** Until then it is as if it had never been, for everybody but this connection. */
export function keepMigration(database: Database): void {
  if (database.inTransaction) database.run("COMMIT")
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

function isThere(database: Database, name: string): boolean {
  using statement = database.prepare<unknown, [string]>(
    "SELECT 1 FROM sqlite_schema WHERE name = ?",
  )
  return statement.get(name) !== null
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
