import type { ExecutionId } from "../../../execution/id.ts"
import { type ExecutionRecord, hasEnded, type TranscriptFacts } from "../../../execution/record.ts"
import type { KeeperMessage } from "../../../protocol/ipc.ts"
import type { Clock } from "../ports.ts"

type Send = (message: Extract<KeeperMessage, { kind: "updates" }>) => void

const mostChanges = 1000
/** Output is told at once after a pause, then no more often than this: it all merges anyway. */
const betweenAdvancesMs = 2

/**
 * What the keeper tells the gateway unasked. One message is in flight at a time; until it is
 * acknowledged, advances merge and changes wait up to a limit, past which the gateway is told to
 * resync. So a gateway that hangs costs no memory, and a flood one message per acknowledgement.
 */
export class GatewayUpdates {
  readonly #factsOf: (id: ExecutionId) => TranscriptFacts | null
  readonly #followed = new Set<ExecutionId>()
  readonly #advanced = new Set<ExecutionId>()
  #changes: ExecutionRecord[] = []
  #isResyncDue = false
  #outbox: number | null = null
  #isWatched = false
  #isAwaitingAcknowledgement = false
  #send: Send | null = null
  #lastAdvanceMs = -Infinity
  #later: Disposable | null = null
  #flushWaiters: Array<() => void> = []
  readonly #clock: Clock

  constructor(factsOf: (id: ExecutionId) => TranscriptFacts | null, clock: Clock) {
    this.#factsOf = factsOf
    this.#clock = clock
  }

  connect(send: Send): void {
    this.disconnect()
    this.#send = send
  }

  disconnect(): void {
    this.#send = null
    this.#followed.clear()
    this.#isWatched = false
    this.#isAwaitingAcknowledgement = false
    this.#later?.[Symbol.dispose]()
    this.#later = null
    this.#clear()
    this.#flush()
  }

  /** Resolves when the gateway has acknowledged everything, or there is no gateway. */
  flushed(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#flushWaiters.push(resolve)
    this.#flush()
    return promise
  }

  follow(id: ExecutionId): void {
    this.#followed.add(id)
  }

  unfollow(id: ExecutionId): void {
    this.#followed.delete(id)
    this.#advanced.delete(id)
  }

  watchAll(on: boolean): void {
    this.#isWatched = on
  }

  advanced(id: ExecutionId): void {
    if (!this.#followed.has(id)) return
    this.#advanced.add(id)
    this.#flush()
  }

  changed(record: ExecutionRecord): void {
    if (!this.#isWatched && !this.#followed.has(record.id)) return
    if (this.#changes.length >= mostChanges) {
      // What advanced is still told: the journal, which is read instead, does not know how far.
      this.#changes = []
      this.#isResyncDue = true
    }
    if (!this.#isResyncDue) this.#changes.push(record)
    if (hasEnded(record)) this.#followed.delete(record.id) // nothing will follow
    this.#flush()
  }

  /** Up to this one, all that is to be delivered would survive a loss of power. */
  outboxSynced(ordinal: number): void {
    this.#outbox = ordinal
    this.#flush()
  }

  /** The gateway has received the message that was in flight. */
  acknowledged(): void {
    this.#isAwaitingAcknowledgement = false
    this.#flush()
  }

  #flush(): void {
    if (this.#isAwaitingAcknowledgement) return
    const isPressing = this.#changes.length > 0 || this.#isResyncDue || this.#outbox !== null
    if (this.#send === null || (this.#advanced.size === 0 && !isPressing)) {
      const woken = this.#flushWaiters
      this.#flushWaiters = []
      for (const wake of woken) wake()
      return
    }
    const waitMs = this.#lastAdvanceMs + betweenAdvancesMs - this.#clock.monotonicMs()
    if (!isPressing && waitMs > 0) {
      this.#later ??= this.#clock.after(waitMs, () => {
        this.#later = null
        this.#flush()
      })
      return
    }
    const advances = []
    for (const executionId of this.#advanced) {
      const transcript = this.#factsOf(executionId)
      if (transcript !== null) advances.push({ executionId, transcript })
    }
    const outbox = this.#outbox === null ? {} : { outbox: this.#outbox }
    const message = { advances, changes: this.#changes, resync: this.#isResyncDue, ...outbox }
    this.#clear()
    this.#isAwaitingAcknowledgement = true
    if (advances.length > 0) this.#lastAdvanceMs = this.#clock.monotonicMs()
    this.#send({ kind: "updates", ...message })
  }

  #clear(): void {
    this.#advanced.clear()
    this.#changes = []
    this.#isResyncDue = false
    this.#outbox = null
  }
}
