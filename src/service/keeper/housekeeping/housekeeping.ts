import type { Log } from "../../../lib/log.ts"
import type { DiskUse } from "../admission/disk-use.ts"
import type { Clock, Journal, TranscriptStore } from "../ports.ts"
import { type RetentionSettings, retain } from "./retention.ts"

type Reserve = {
  freeBytes(): number
  /** Gives the space held in reserve back, so that what must be written can be. */
  dropBallast(): void
  /** Takes what is left of it again at once. */
  retakeBallast(): void
  /** Takes all of it again once there is plenty. */
  restoreBallast(): void
}

/** What is done now and then: forget what is past its time, and keep a reserve of space. */
export function createHousekeeping(
  settings: RetentionSettings,
  state: Reserve,
  ports: {
    journal: Journal
    transcripts: TranscriptStore
    clock: Clock
    log: Log
    disk: () => Pick<DiskUse, "live" | "tidied">
    missingInodes: () => number
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
