import { fdatasync } from "node:fs"
import { promisify } from "node:util"
import { isErrno } from "../../../lib/errno.ts"
import { openOwned } from "../../../lib/owned-file.ts"
import { SerialQueue } from "../../../lib/serial-queue.ts"

const datasync = promisify(fdatasync)

/**
 * Brings the journal's log onto the disk itself, off the event loop. SQLite would do so only at
 * checkpoints (synchronous = NORMAL), or while everything waits (FULL). One sync runs at a time,
 * and all who ask meanwhile share the next: it comes after whatever they have written.
 */
export function createLogSync(journalPath: string): () => Promise<void> {
  const turns = new SerialQueue()
  let next: Promise<void> | null = null
  return () => {
    next ??= turns.run(() => {
      next = null
      return syncLog(`${journalPath}-wal`)
    })
    return next
  }
}

async function syncLog(path: string): Promise<void> {
  try {
    using log = openOwned(path, "read")
    await datasync(log.fd)
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error // closed meanwhile, and all of it is in the journal
  }
}
