import type { DiskUse } from "./disk-use.ts"
import type { Clock, Journal, Log, TranscriptStore } from "./ports.ts"
import { type RetentionSettings, retain } from "./retention.ts"
import type { StateDirectory } from "./state-directory.ts"

/** What is done now and then: forget what is past its time, and keep a reserve of space. */
export function createHousekeeping(
  settings: RetentionSettings,
  state: Pick<StateDirectory, "freeBytes" | "dropBallast" | "retakeBallast" | "restoreBallast">,
  ports: {
    journal: Journal
    transcripts: TranscriptStore
    clock: Clock
    log: Log
    disk: () => Pick<DiskUse, "live" | "tidied">
    isFull: (error: unknown) => boolean
  },
): () => void {
  const { log, isFull } = ports
  return () => {
    if (!tidyUp()) {
      // Even what is removed is written down first.
      state.dropBallast()
      if (!tidyUp()) log.error({}, "disk full: housekeeping waits")
      state.retakeBallast()
    }
    state.restoreBallast()
  }

  function tidyUp(): boolean {
    try {
      const removed = retain(settings, { ...ports, freeBytes: () => state.freeBytes() })
      if (removed.transcripts > 0 || removed.records > 0) log.info(removed, "retention removed")
      return true
    } catch (error) {
      if (!isFull(error)) throw error
      return false
    }
  }
}
