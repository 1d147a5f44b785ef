import type { ExecutionId } from "../../../execution/id.ts"
import { type DiskSettings, type DiskUse, type LiveUse, mayBeOver } from "../admission/disk-use.ts"
import type { Clock, Journal, TranscriptStore } from "../ports.ts"

export type RetentionSettings = DiskSettings & {
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
    /** How many inodes removals should free. */
    missingInodes(): number
    disk(): Pick<DiskUse, "live" | "tidied">
  },
): Removed {
  const { journal, clock } = ports
  const nowMs = clock.now().getTime()
  const kept = journal.endedWithTranscript()
  let totalBytes = kept.reduce((sum, one) => sum + one.bytes, 0)
  const live = ports.disk().live()
  const allowedBytes = Math.min(settings.totalBytes, settings.maxDiskBytes - live.totalBytes)
  let missingBytes = Math.max(0, settings.diskFloorBytes - ports.freeBytes())

  const removed: Removed = { transcripts: 0, bytes: 0, records: 0 }
  const remove = ({ id, bytes }: { id: ExecutionId; bytes: number }) => {
    // Journaled first: a transcript that is gone must never be offered.
    journal.transcriptRemoved(id)
    ports.transcripts.remove(id)
    totalBytes -= bytes
    missingBytes -= bytes
    removed.transcripts += 1
    removed.bytes += bytes
  }
  for (const one of kept) {
    const isOld = nowMs - Date.parse(one.endedAt) > settings.ageMs
    const isRoom = totalBytes <= allowedBytes && missingBytes <= 0 && ports.missingInodes() === 0
    if (!isOld && isRoom) break
    remove(one)
  }
  const shares = keepShares(live, settings.retainBytesPerPrincipal, journal, remove)
  ports.disk().tidied(totalBytes, shares)
  removed.records = journal.expire({
    recordsEndedBefore: new Date(nowMs - settings.recordsMs),
    keysBefore: new Date(nowMs - settings.keysMs),
  })
  return removed
}

/**
 * Removes the oldest of each principal that has more than its share, its live ones counted first.
 * All ended ones are looked at only when somebody may have; answers what is left of whom then.
 */
function keepShares(
  { byPrincipal }: LiveUse,
  shareBytes: number,
  journal: Journal,
  remove: (one: { id: ExecutionId; bytes: number }) => void,
): ReadonlyMap<string, number> {
  const left = new Map<string, number>()
  if (![...byPrincipal.values()].some((use) => mayBeOver(use, shareBytes))) return left
  const all = journal.endedByPrincipal()
  for (const principal of byPrincipal.keys()) left.set(principal, 0)
  for (const { principal, bytes } of all) {
    const ended = left.get(principal)
    if (ended !== undefined) left.set(principal, ended + bytes)
  }
  for (const one of all) {
    const ended = left.get(one.principal) ?? 0
    const liveBytes = byPrincipal.get(one.principal)?.liveBytes ?? 0
    if (ended === 0 || ended + liveBytes <= shareBytes) continue
    remove(one)
    left.set(one.principal, ended - one.bytes)
  }
  return left
}
