import type { ExecutionId } from "../../../execution/id.ts"
import { retainedBytes, type TranscriptFacts } from "../../../execution/record.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Clock } from "../ports.ts"
import type { Starter } from "./execution-slots.ts"

export type DiskSettings = {
  maxDiskBytes: number // all transcripts, live ones included; infinite for no cap
  retainBytesPerPrincipal: number
}

export type LiveShare = { id: ExecutionId; starter: Starter; bytes: number }

/** The ended bytes are null until somebody has looked: the journal has them, with all others'. */
export type PrincipalUse = { liveBytes: number; endedBytes: number | null }

export type LiveUse = {
  totalBytes: number
  /** Of principals that are not exempt and have started something. */
  byPrincipal: ReadonlyMap<string, PrincipalUse>
}

type Look = {
  use: LiveUse & { byPrincipal: Map<string, PrincipalUse> }
  seen: Map<ExecutionId, number> // the bytes of each live one
  atMs: number
}

/** A look at every live transcript is good for so long: starts may come by the thousand. */
const freshMs = 250
/** Past so many, what is known of principals is learned anew. */
const mostPrincipals = 10_000

/** How much of the disk transcripts take: of everybody, and of each principal that has a bound. */
export class DiskUse {
  readonly #settings: DiskSettings
  readonly #clock: Pick<Clock, "monotonicMs">
  readonly #live: () => Iterable<LiveShare>
  /** Never too little: what is removed otherwise is learned at the next look. */
  readonly #endedOf = new Map<string, number | null>()
  #endedBytes = 0
  #look: Look | null = null

  constructor(
    settings: DiskSettings,
    clock: Pick<Clock, "monotonicMs">,
    live: () => Iterable<LiveShare>,
  ) {
    this.#settings = settings
    this.#clock = clock
    this.#live = live
  }

  /** Ended transcripts can be removed; where live ones alone are too much, nothing new starts. */
  refusal({ principal, exempt }: Starter): Failure | null {
    const { maxDiskBytes, retainBytesPerPrincipal } = this.#settings
    const use = this.live()
    if (use.totalBytes >= maxDiskBytes) {
      const message =
        `The transcripts of running executions use ${use.totalBytes} bytes of the ` +
        `${maxDiskBytes} allowed (--max-disk-bytes): try again when one has ended.`
      return failure("DISK_FULL", message, { retry_after: 1 })
    }
    const ownBytes = exempt ? 0 : (use.byPrincipal.get(principal)?.liveBytes ?? 0)
    if (ownBytes < retainBytesPerPrincipal) return null
    const message =
      `The output of your running executions uses ${ownBytes} bytes of your ` +
      `${retainBytesPerPrincipal} (--retain-bytes-per-principal): try again when one has ended.`
    return failure("AT_CAPACITY", message, { retry_after: 1 })
  }

  /** Of ended executions, as far as it was learned. */
  get endedBytes(): number {
    return this.#endedBytes
  }

  live(): LiveUse {
    const nowMs = this.#clock.monotonicMs()
    if (this.#look !== null && nowMs - this.#look.atMs < freshMs) return this.#look.use
    const byPrincipal = new Map<string, PrincipalUse>()
    for (const [principal, endedBytes] of this.#endedOf) {
      byPrincipal.set(principal, { liveBytes: 0, endedBytes })
    }
    const seen = new Map<ExecutionId, number>()
    let totalBytes = 0
    for (const { id, starter, bytes } of this.#live()) {
      seen.set(id, bytes)
      totalBytes += bytes
      if (starter.exempt) continue
      const own = byPrincipal.get(starter.principal) ?? { liveBytes: 0, endedBytes: null }
      own.liveBytes += bytes
      byPrincipal.set(starter.principal, own)
    }
    const use = { totalBytes, byPrincipal }
    this.#look = { use, seen, atMs: nowMs }
    return use
  }

  /** Corrects the last look: with many starts and ends, each would need another otherwise. */
  ended({ id, starter, bytes }: LiveShare): void {
    this.#endedBytes += bytes
    const seenBytes = this.#look?.seen.get(id) ?? 0
    this.#look?.seen.delete(id)
    if (this.#look !== null) this.#look.use.totalBytes -= seenBytes
    if (starter.exempt) return
    const known = this.#endedOf.get(starter.principal) ?? null
    const endedBytes = known === null ? null : known + bytes
    this.#endedOf.set(starter.principal, endedBytes)
    const own = this.#look?.use.byPrincipal
    const liveBytes = (own?.get(starter.principal)?.liveBytes ?? 0) - seenBytes
    own?.set(starter.principal, { liveBytes, endedBytes })
  }

  /** Whether the next housekeeping should not wait for its time. */
  needsTidying(): boolean {
    const { totalBytes, byPrincipal } = this.live()
    const isOver = this.#endedBytes + totalBytes > this.#settings.maxDiskBytes
    if (isOver && this.#endedBytes > 0) return true
    const shareBytes = this.#settings.retainBytesPerPrincipal
    return [...byPrincipal.values()].some((use) => mayBeOver(use, shareBytes))
  }

  /** Housekeeping has been. So much is left of what had ended, and of whom, where it looked. */
  tidied(endedBytes: number, byPrincipal: ReadonlyMap<string, number>): void {
    this.#endedBytes = endedBytes
    if (this.#endedOf.size > mostPrincipals) this.#endedOf.clear()
    for (const [principal, bytes] of byPrincipal) this.#endedOf.set(principal, bytes)
    this.#look = null
  }
}

/** Whether something of it could be removed to keep its share. */
export function mayBeOver({ liveBytes, endedBytes }: PrincipalUse, shareBytes: number): boolean {
  if (endedBytes === null) return true
  return endedBytes > 0 && liveBytes + endedBytes > shareBytes
}

export function shareOf(id: ExecutionId, starter: Starter, facts: TranscriptFacts): LiveShare {
  return { id, starter, bytes: retainedBytes(facts) }
}
