import type { Database } from "bun:sqlite"
import { statfsSync, statSync } from "node:fs"
import { checkpointAfter } from "./connection.ts"
import { isOutOfRoom, JournalFullError } from "./journal-failure.ts"

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
