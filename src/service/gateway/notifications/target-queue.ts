import type { AfterAttempt, AttemptReport } from "../../../execution/delivery.ts"
import type { ExecutionId } from "../../../execution/id.ts"
import type { OutboxReader, PendingDelivery } from "../outbox-port.ts"
import type { Attempted } from "./attempt.ts"

/** So many failures in a row, and the target is taken for down: then one at a time is tried. */
const downAfter = 5
const firstRetryMs = 1000
/** Of a target that is down. */
const longestPauseMs = 15_000
/** Of one message that its target does not take. */
const longestRetryMs = 600_000
/** With these waits it takes more than a day. */
const mostAttempts = 160
/** Read at once; with fewer that wait, they are sent one after another, as they happened. */
const readAhead = 64
/** Beyond this, what came of attempts has to be written down first. */
const mostTaken = 200
/** Where what is due must wait for something that is under way. */
const lookAgainMs = 1000

export type QueuePorts = {
  outbox: Pick<OutboxReader, "due" | "nextDueAt">
  /** The last one that may be sent: what came after it could be undone by a loss of power. */
  upTo: () => number
  attempt(delivery: PendingDelivery): Promise<Attempted>
  /** Resolves when it is written down. */
  report(report: AttemptReport): Promise<void>
  now: () => Date
  after: (delayMs: number, run: () => void) => Disposable
  random: () => number
  /** The target is down, or no longer. */
  changed(failingSince: Date | null, why: string | null): void
}

/**
 * Sends to one target what the outbox has for it, as it happened; when much waits, several at a
 * time, and in order within an execution. A message that fails waits by itself, with what follows
 * it there; when everything fails, or nobody answers, the target is left alone but for one attempt
 * now and then.
 */
export class TargetQueue {
  readonly #target: string
  readonly #mostAtOnce: number
  readonly #ports: QueuePorts
  /** Under way, or not yet written down. */
  readonly #taken = new Set<ExecutionId>()
  #found: PendingDelivery[] = []
  /** More waits than is sent one after another. */
  #isBehind = false
  #underWay = 0
  #failures = 0
  #failingSince: Date | null = null
  #notBeforeMs = 0
  #timer: Disposable | null = null
  #isPumping = false
  #isWoken = false
  #isClosed = false

  constructor(target: string, mostAtOnce: number, ports: QueuePorts) {
    this.#target = target
    this.#mostAtOnce = mostAtOnce
    this.#ports = ports
  }

  get failingSince(): Date | null {
    return this.#failingSince
  }

  /** There may be something to send. */
  wake(): void {
    this.#isWoken = true
    if (!this.#isPumping) this.#pump()
  }

  /** Sends this one whatever the target did before; resolves when what came of it is on record. */
  async sendNow(delivery: PendingDelivery): Promise<void> {
    if (!this.#taken.has(delivery.id)) await this.#send(delivery)
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.[Symbol.dispose]()
  }

  #pump(): void {
    this.#isPumping = true
    while (this.#isWoken && !this.#isClosed) {
      this.#isWoken = false
      this.#sendWhatIsDue()
    }
    this.#isPumping = false
  }

  #sendWhatIsDue(): void {
    const { outbox, now } = this.#ports
    while (!this.#isClosed && this.#underWay < this.#room() && this.#taken.size < mostTaken) {
      const nowMs = now().getTime()
      if (this.#isDown && nowMs < this.#notBeforeMs) return this.#wakeAt(this.#notBeforeMs)
      const next = this.#found.shift()
      if (next !== undefined) {
        if (!this.#taken.has(next.id)) void this.#send(next)
        continue
      }
      const upTo = this.#ports.upTo()
      const due = outbox.due(this.#target, upTo, now(), readAhead + this.#taken.size)
      const found = due.filter(({ id }) => !this.#taken.has(id))
      if (found.length === 0) {
        const nextMs = outbox.nextDueAt(this.#target, upTo)?.getTime() ?? null
        // What is under way wakes this queue by itself.
        if (nextMs !== null) this.#wakeAt(nextMs > nowMs ? nextMs : nowMs + lookAgainMs)
        return
      }
      this.#found = found
      this.#isBehind = found.length >= readAhead
    }
  }

  get #isDown(): boolean {
    return this.#failures >= downAfter
  }

  #room(): number {
    return this.#isBehind && !this.#isDown ? this.#mostAtOnce : 1
  }

  async #send(delivery: PendingDelivery): Promise<void> {
    const { id } = delivery
    this.#taken.add(id)
    this.#underWay += 1
    const at = this.#ports.now()
    const attempted = await this.#ports.attempt(delivery)
    if (this.#isClosed) return // it is sent again by whoever comes next
    this.#underWay -= 1
    this.#learn(attempted)
    const { result, status, why } = attempted
    const took_ms = Math.max(0, this.#ports.now().getTime() - at.getTime())
    const attempt = { at: at.toISOString(), took_ms, result, status, why }
    const then = this.#afterwards(delivery, attempted)
    const written = this.#ports.report({ delivery: id, target: this.#target, attempt, then })
    this.wake()
    await written
    this.#taken.delete(id)
    this.wake()
  }

  /** How the target is, by what it did with a message. */
  #learn({ result, why, isUnreachable = false, retryAfterMs = 0 }: Attempted): void {
    const nowMs = this.#ports.now().getTime()
    if (result !== "failed") {
      this.#failures = 0
      this.#tell(null, null)
      return
    }
    this.#failures = Math.max(this.#failures + 1, isUnreachable ? downAfter : 0)
    if (!this.#isDown) return
    this.#found = [] // the next attempt is made with the oldest that is due then
    const pauseMs = backOff(this.#failures - downAfter + 1, longestPauseMs)
    this.#notBeforeMs = nowMs + Math.max(retryAfterMs, this.#spread(pauseMs))
    this.#tell(this.#failingSince ?? new Date(nowMs), why)
  }

  #tell(since: Date | null, why: string | null): void {
    const isNews = (since === null) !== (this.#failingSince === null)
    this.#failingSince = since
    if (isNews) this.#ports.changed(since, why)
  }

  #afterwards(
    { attempts: before, notice }: PendingDelivery,
    { result, isUnreachable = false, retryAfterMs = 0 }: Attempted,
  ): AfterAttempt {
    const attempts = before + 1
    if (result !== "failed") return { kind: "settled", outcome: result }
    if (notice.kind === "test") return { kind: "settled", outcome: "exhausted" }
    // The target waits, not the message: it is still the first one, and has done nothing wrong.
    if (isUnreachable) return { kind: "again", at: this.#ports.now().toISOString() }
    if (attempts >= mostAttempts) return { kind: "settled", outcome: "exhausted" }
    const waitMs = Math.max(retryAfterMs, this.#spread(backOff(attempts, longestRetryMs)))
    const at = new Date(this.#ports.now().getTime() + waitMs)
    return { kind: "again", at: at.toISOString() }
  }

  /** Not all at the same moment. */
  #spread(delayMs: number): number {
    return delayMs * (0.9 + 0.2 * this.#ports.random())
  }

  #wakeAt(atMs: number): void {
    this.#timer?.[Symbol.dispose]()
    const delayMs = Math.max(0, atMs - this.#ports.now().getTime())
    // A timer's own bound is 24 days; and a clock may be set.
    this.#timer = this.#ports.after(Math.min(delayMs, longestRetryMs), () => this.wake())
  }
}

function backOff(attempt: number, mostMs: number): number {
  return Math.min(mostMs, firstRetryMs * 2 ** Math.min(attempt - 1, 30))
}
