import type { UsageLimit } from "../../execution/agent.ts"
import type { HostClock } from "./host-clock.ts"

const mostRetries = 5
const firstRetryMs = 10_000
const longestRetryMs = 300_000
/** After a limit's end, sessions go on one after another, not all at once. */
const spreadMs = 60_000
const unknownLimitMs = 900_000

export type Retry = { attempt: number; mostAttempts: number; until: Date; why: string }

export type HoldUpEvents = {
  /** A limit is another one than before. */
  limit(limit: UsageLimit): void
  resumed(after: "limit" | "error", attempt: number): void
  /** The turn is to be gone on with now. */
  goOn(): void
}

/**
 * What keeps a turn from going on: a usage limit, or an API that is overloaded or out of reach. The
 * agent waits for some of it by itself, which is only shown; for the rest its session waits, and
 * then goes on with the turn.
 */
export class HoldUp {
  readonly #executionId: string
  readonly #clock: HostClock
  readonly #events: HoldUpEvents
  #limit: UsageLimit | null = null
  #limitedUntil: Date | null = null
  #retry: Retry | null = null
  #retries = 0
  #waiting: Disposable | null = null

  constructor(executionId: string, clock: HostClock, events: HoldUpEvents) {
    this.#executionId = executionId
    this.#clock = clock
    this.#events = events
  }

  get limit(): UsageLimit | null {
    return this.#limit
  }

  get limitedUntil(): Date | null {
    return this.#limitedUntil
  }

  get retry(): Retry | null {
    return this.#retry
  }

  /** Whether the session waits, and the agent does nothing. */
  get isWaiting(): boolean {
    return this.#waiting !== null
  }

  get mayRetry(): boolean {
    return this.#retries < mostRetries
  }

  /** The agent tries again by itself. */
  agentRetries(attempt: number, mostAttempts: number, delayMs: number, why: string): void {
    this.#retry = { attempt, mostAttempts, until: this.#in(delayMs), why }
  }

  limited(limit: UsageLimit): void {
    const isSame = JSON.stringify(limit) === JSON.stringify(this.#limit)
    this.#limit = limit
    if (!isSame) this.#events.limit(limit)
    if (limit.status === "rejected") this.#limitedUntil = this.#limitEnd()
    else this.isAnswered()
  }

  /** The API answers: whatever held the turn up is over, unless the session itself waits. */
  isAnswered(): void {
    if (this.isWaiting) return
    this.#retry = null
    if (this.#limitedUntil === null) return
    this.#limitedUntil = null
    this.#events.resumed("limit", 1)
  }

  waitForLimit(): void {
    const until = new Date(this.#limitEnd().getTime() + spreadOf(this.#executionId))
    this.#limitedUntil = until
    this.#wait(until.getTime() - this.#clock.now().getTime(), () => {
      this.#limitedUntil = null
      this.#events.resumed("limit", 1)
    })
  }

  retryLater(why: string): void {
    this.#retries += 1
    const attempt = this.#retries
    const delayMs = Math.min(firstRetryMs * 3 ** (attempt - 1), longestRetryMs)
    const until = this.#in(delayMs)
    this.#retry = { attempt, mostAttempts: mostRetries, until, why: why.slice(0, 200) }
    this.#wait(delayMs, () => {
      this.#retry = null
      this.#events.resumed("error", attempt)
    })
  }

  /** The turn is over, or the agent's program is. */
  stop(): void {
    this.#waiting?.[Symbol.dispose]()
    this.#waiting = null
    this.#limitedUntil = null
    this.#retry = null
  }

  /** A turn has ended as it should: the next trouble is a new one. */
  forgetRetries(): void {
    this.#retries = 0
  }

  #wait(delayMs: number, over: () => void): void {
    this.#waiting?.[Symbol.dispose]()
    this.#waiting = this.#clock.after(Math.max(0, delayMs), () => {
      this.#waiting = null
      over()
      this.#events.goOn()
    })
  }

  #limitEnd(): Date {
    const told = this.#limit?.resets_at ?? null
    return told === null ? this.#in(unknownLimitMs) : new Date(told)
  }

  #in(delayMs: number): Date {
    return new Date(this.#clock.now().getTime() + delayMs)
  }
}

/** Always the same for one execution, and another for others: from 0 to a minute. */
function spreadOf(executionId: string): number {
  let sum = 0
  for (const character of executionId) sum = (sum * 31 + character.charCodeAt(0)) % spreadMs
  return sum
}
