import { open } from "node:fs/promises"
import { dirname } from "node:path"
import { isErrno } from "../../../../lib/errno.ts"
import { openingFlags } from "../../../../lib/owned-file.ts"
import { segmentPath, type TranscriptFiles } from "../segment-files.ts"

/** Brings what was written onto the disk itself, off the event loop. */
export type Syncer = {
  /** A new segment was made; the one before it gets no more records. */
  begun(segment: number): void
  forgotten(segment: number): void
  sync(): Promise<void>
}

// Files are opened anew for it: the writer may close its own handle while the disk still works.
export function createSyncer(files: TranscriptFiles): Syncer {
  const unsynced = new Set<number>()
  let newest = -1
  let namesSynced = true
  return {
    begun(segment) {
      unsynced.add(segment)
      newest = segment
      namesSynced = false
    },
    forgotten(segment) {
      unsynced.delete(segment)
    },
    async sync() {
      // Marked as done only afterwards, so that a second call meanwhile waits for the disk as well.
      const segments = [...unsynced]
      const newestThen = newest
      for (const segment of segments) await syncFile(segmentPath(files, segment))
      if (!namesSynced) {
        await syncDirectory(files.directory)
        await syncDirectory(dirname(files.directory))
      }
      // What was the newest may have grown meanwhile: it stays on the list.
      for (const segment of segments) if (segment !== newestThen) unsynced.delete(segment)
      if (newest === newestThen) namesSynced = true
    },
  }
}

async function syncFile(path: string): Promise<void> {
  try {
    const handle = await open(path, openingFlags.read)
    try {
      await handle.datasync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error // forgotten meanwhile
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
