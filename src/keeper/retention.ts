import type { Clock, Journal, TranscriptStore } from "./ports.ts"

export type RetentionSettings = {
  ageMs: number // transcripts of ended executions
  totalBytes: number // all of them together; the oldest go first
  recordsMs: number // records and receipts, which outlive transcripts
  keysMs: number // idempotency keys
  diskFloorBytes: number // free space below which ended executions go, whatever their age
}

export type Removed = { transcripts: number; bytes: number; records: number }

/** Forgets what is past its time or its share of the disk. */
export function retain(
  settings: RetentionSettings,
  ports: {
    journal: Journal
    transcripts: TranscriptStore
    clock: Clock
    freeBytes(): number
  },
): Removed {
  const { journal, transcripts, clock } = ports
  const nowMs = clock.now().getTime()
  const kept = journal.endedWithTranscript()
  let totalBytes = kept.reduce((sum, one) => sum + one.bytes, 0)
  let missingBytes = Math.max(0, settings.diskFloorBytes - ports.freeBytes())

  const removed: Removed = { transcripts: 0, bytes: 0, records: 0 }
  for (const { id, endedAt, bytes } of kept) {
    const isOld = nowMs - Date.parse(endedAt) > settings.ageMs
    if (!isOld && totalBytes <= settings.totalBytes && missingBytes <= 0) break
    // Journaled first: a transcript that is gone must never be offered.
    journal.transcriptRemoved(id)
    transcripts.remove(id)
    totalBytes -= bytes
    missingBytes -= bytes
    removed.transcripts += 1
    removed.bytes += bytes
  }
  removed.records = journal.expire({
    recordsEndedBefore: new Date(nowMs - settings.recordsMs),
    keysBefore: new Date(nowMs - settings.keysMs),
  })
  return removed
}
