import type { ExecutionId } from "../../../execution/id.ts"
import { type ExecutionRecord, hasEnded, type TranscriptFacts } from "../../../execution/record.ts"
import { ok } from "../../../lib/result.ts"
import { UsageCounter } from "../../../lib/usage-counter.ts"
import type { Answer, JournalReader } from "../ports.ts"
import type { KeeperLink, KeeperUpdates } from "./keeper-link.ts"

/** An execution that somebody here reads, as the keeper last told of it. */
export type Followed = {
  record: ExecutionRecord
  transcript: TranscriptFacts
  readonly readers: Set<FollowReader>
}

export interface FollowReader {
  /** There may be more to read. */
  advanced(): void
  changed(record: ExecutionRecord): void
}

type Watcher = (record: ExecutionRecord) => void

/** Watchers are told these after a resync; an older one that changed in it they must ask for. */
const mostListed = 1000

/** What this gateway follows; all of it can be read again from journal and keeper. */
export class LiveExecutions {
  readonly #link: () => KeeperLink
  readonly #journal: () => JournalReader
  readonly #followed = new Map<ExecutionId, Followed>()
  readonly #openings = new UsageCounter()
  readonly #watchers = new Set<Watcher>()
  #readers = 0

  constructor(link: () => KeeperLink, journal: () => JournalReader) {
    this.#link = link
    this.#journal = journal
  }

  /** Who reads here, also what has ended, or watches. */
  get readerCount(): number {
    return this.#readers + this.#watchers.size
  }

  peek(id: ExecutionId): ExecutionRecord | null {
    const followed = this.#followed.get(id)
    return followed === undefined ? null : current(followed)
  }

  /** Begins to follow what the keeper follows for us already, because we started it. */
  adopt(record: ExecutionRecord): Followed {
    const known = this.#followed.get(record.id)
    if (known !== undefined) return known
    const followed = { record, transcript: record.transcript, readers: new Set<FollowReader>() }
    this.#followed.set(record.id, followed)
    return followed
  }

  /**
   * To be held from before `follow` until there is a reader: else the last reader before could let
   * the execution go in between, and the new one would never hear of it again.
   */
  opening(id: ExecutionId): Disposable {
    const opening = this.#openings.acquire(id)
    return {
      [Symbol.dispose]: () => {
        opening.dispose()
        const followed = this.#followed.get(id)
        if (followed !== undefined) this.#release(followed)
      },
    }
  }

  /** Null when there is no such execution. */
  async follow(id: ExecutionId): Answer<Followed | null> {
    const known = this.#followed.get(id)
    if (known !== undefined) return ok(known)
    let live: Followed | null = null
    const answer = await this.#link().call("follow", { executionId: id }, ({ record }) => {
      if (record !== null) live = this.adopt(record)
    })
    if (live !== null) return ok(live)
    if (!answer.ok) return answer
    const record = this.#journal().find(id)
    if (record === null) return ok(null)
    // Not live and not ended is a moment between two looks: it ended in it.
    return ok({ record, transcript: record.transcript, readers: new Set() })
  }

  /** The reader hears of the execution until this is disposed. */
  read(followed: Followed, reader: FollowReader): Disposable {
    followed.readers.add(reader)
    this.#readers += 1
    return {
      [Symbol.dispose]: () => {
        if (!followed.readers.delete(reader)) return
        this.#readers -= 1
        this.#release(followed)
      },
    }
  }

  #release(followed: Followed): void {
    const { id } = followed.record
    if (followed.readers.size > 0 || this.#openings.of(id) > 0) return
    if (this.#followed.get(id) !== followed) return
    this.#followed.delete(id)
    if (!hasEnded(followed.record)) void this.#link().call("unfollow", { executionId: id })
  }

  watch(watcher: Watcher): Disposable {
    this.#watchers.add(watcher)
    if (this.#watchers.size === 1) void this.#link().call("watch", { on: true })
    return {
      [Symbol.dispose]: () => {
        if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return
        void this.#link().call("watch", { on: false })
      },
    }
  }

  apply(updates: KeeperUpdates): void {
    // Changes are older than advances: that it started is told before what it wrote, and what is
    // known of a transcript never goes back.
    for (const record of updates.changes) this.#changed(record)
    if (updates.resync) this.#resync()
    for (const { executionId, transcript } of updates.advances) {
      const followed = this.#followed.get(executionId)
      if (followed === undefined) continue
      followed.transcript = transcript
      for (const reader of followed.readers) reader.advanced()
    }
  }

  #changed(record: ExecutionRecord): void {
    for (const watcher of this.#watchers) watcher(record)
    const followed = this.#followed.get(record.id)
    if (followed === undefined) return
    followed.record = record
    followed.transcript = further(followed.transcript, record.transcript)
    for (const reader of followed.readers) reader.changed(record)
    if (hasEnded(record)) this.#followed.delete(record.id)
  }

  /** Changes were too many to be told one by one: look at everything again. */
  #resync(): void {
    const watched =
      this.#watchers.size === 0 ? [] : (this.#journal().list({ limit: mostListed })?.records ?? [])
    for (const record of watched.toReversed()) this.#changed(record)
    const alreadyReported = new Set(watched.map(({ id }) => id))
    for (const id of this.#followed.keys()) {
      const record = alreadyReported.has(id) ? null : this.#journal().find(id)
      if (record !== null) this.#changed(record)
    }
  }
}

/** The journal, which a resync reads, may be behind what was told. */
function further(known: TranscriptFacts, reported: TranscriptFacts): TranscriptFacts {
  const segments = reported.end.segment - known.end.segment
  return segments > 0 || (segments === 0 && reported.end.offset >= known.end.offset)
    ? reported
    : known
}

function current(followed: Followed): ExecutionRecord {
  return { ...followed.record, transcript: followed.transcript }
}
