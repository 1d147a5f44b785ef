import { Database, SQLiteError, type SQLQueryBindings } from "bun:sqlite"
import { statfsSync, statSync } from "node:fs"
import { z } from "zod"
import { checkOwnedFile, mustOwnDirectoryOf, openOrCreateOwned } from "../../../lib/owned-file.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { UntrustedFileError } from "../../../lib/untrusted-file.ts"
import { codeOf, isOutOfRoom, type JournalFailure, JournalFullError } from "./journal-failure.ts"
import { checkVersion, migrate } from "./migrations.ts"

// Nobody waits long: there is one writer, and readers only ever wait for a recovery after a crash.
const busyTimeoutMs = 5_000

// 4 MB of log between checkpoints. The sync of each stalls the keeper for a few milliseconds;
// fewer and longer ones cost the same in all (16 MB: 10 ms, 64 MB: 35 ms).
const checkpointPages = 1_000
const logLimitBytes = 8 * 1024 * 1024

/** Opens the journal, made and brought up to date where needed. */
export function openForWriting(
  path: string,
  keepMigration: "at once" | "when told" = "at once",
): Result<Database, JournalFailure> {
  return opening(path, "write", () => {
    createForOwner(path)
    checkCompanions(path)
    using opened = new DisposableStack()
    const database = opened.use(new Database(path, { readwrite: true, strict: true }))
    database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    if (!usesLog(database)) return fail(unusable(path, "its file system cannot share memory"))
    database.run("PRAGMA synchronous = NORMAL")
    database.run("PRAGMA foreign_keys = ON")
    checkpointAfter(database, "enough")
    database.run(`PRAGMA journal_size_limit = ${logLimitBytes}`)

    const migrated = migrate(database, path, keepMigration)
    if (!migrated.ok) return migrated
    opened.move()
    return ok(database)
  })
}

/**
 * Prepares statements once; the owner finalizes them. One that is left open keeps the connection
 * open too, and with it the log beside the file.
 */
export function preparing(database: Database, owner: DisposableStack) {
  return <Bindings extends SQLQueryBindings[]>(sql: string) =>
    owner.use(database.prepare<unknown, Bindings>(sql))
}

/** When the log is copied into the file, of itself and after a write. */
function checkpointAfter(database: Database, pages: "enough" | "never"): void {
  database.run(`PRAGMA wal_autocheckpoint = ${pages === "enough" ? checkpointPages : 0}`)
}

/** A connection that cannot write, beside the writer's in another process. */
export function openForReading(path: string): Result<Database, JournalFailure> {
  return opening(path, "read", () => {
    if (!checkOwnedFile(path)) return fail(missing(path))
    // Even a reader makes files beside it.
    mustOwnDirectoryOf(path)
    checkCompanions(path)
    using opened = new DisposableStack()
    const database = opened.use(new Database(path, { readonly: true, strict: true }))
    database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)

    const checked = checkVersion(database, path)
    if (!checked.ok) return checked
    opened.move()
    return ok(database)
  })
}

function opening(
  path: string,
  access: "read" | "write",
  open: () => Result<Database, JournalFailure>,
): Result<Database, JournalFailure> {
  try {
    return open()
  } catch (error) {
    if (access === "write" && isOutOfRoom(error)) return fail(full(path, codeOf(error)))
    if (error instanceof UntrustedFileError) return fail(untrusted(path, error))
    if (error instanceof SQLiteError) {
      return fail(unusable(path, `${codeOf(error)}: ${error.message}`))
    }
    if (error instanceof Error && "syscall" in error) return fail(unusable(path, error.message))
    throw error
  }
}

/** Command lines are in there. The log and its index take over the mode of the file. */
function createForOwner(path: string): void {
  openOrCreateOwned(path, "append")[Symbol.dispose]()
}

/** What SQLite opens besides, by its own name for it, and would follow or wait for. */
const companions = ["-wal", "-shm", "-journal"]

/** SQLite opens by path: so whoever opens a journal must own its directory. */
function checkCompanions(path: string): void {
  for (const suffix of companions) checkOwnedFile(`${path}${suffix}`)
}

function usesLog(database: Database): boolean {
  using statement = database.prepare<unknown, []>("PRAGMA journal_mode = WAL")
  const { journal_mode } = z.object({ journal_mode: z.string() }).parse(statement.get())
  return journal_mode === "wal"
}

function missing(path: string): JournalFailure {
  const message = `there is no journal at ${path}; start \`cc-executor serve\` to create one`
  return { kind: "missing", path, message }
}

function full(path: string, code: string): JournalFailure {
  const message = `the journal ${path} could not be opened (${code}); free space on its disk`
  return { kind: "full", path, message }
}

function untrusted(path: string, { message }: UntrustedFileError): JournalFailure {
  return { kind: "unusable", path, message: `the journal ${path} cannot be used: ${message}` }
}

function unusable(path: string, why: string): JournalFailure {
  const message =
    `the journal ${path} cannot be used (${why}); ` +
    "check that it is a journal, its permissions, and that it is on a local disk"
  return { kind: "unusable", path, message }
}

/** Runs work that is written as a whole or, when it throws, not at all. */
export type WriteTransaction = <Value>(work: () => Value) => Value

export function writeTransactions(
  database: Database,
  path: string,
  owner: DisposableStack,
): WriteTransaction {
  const begin = owner.use(database.prepare<unknown, []>("BEGIN IMMEDIATE"))
  const commit = owner.use(database.prepare<unknown, []>("COMMIT"))
  const rollback = owner.use(database.prepare<unknown, []>("ROLLBACK"))
  let short = false

  // Copying the log into the file makes the file grow. On a disk that was full it would take the
  // room that was freed for the writes to come; so the log alone grows until both have room.
  function saveRoom(save: boolean): void {
    if (save !== short) checkpointAfter(database, save ? "never" : "enough")
    short = save
  }

  return (work) => {
    try {
      begin.run()
      const value = work()
      commit.run()
      if (short) saveRoom(!hasRoomForCopy(path))
      return value
    } catch (error) {
      // A full disk often makes SQLite roll back by itself, and then a second time is an error.
      if (database.inTransaction) rollback.run()
      if (!isOutOfRoom(error)) throw error
      saveRoom(true)
      throw new JournalFullError(path, error)
    }
  }
}

function hasRoomForCopy(path: string): boolean {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize > 2 * statSync(`${path}-wal`).size
}
