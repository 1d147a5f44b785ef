import { ExecutionIdPrefix } from "../../../execution/id.ts"
import { Deduplicator } from "../../../lib/deduplicator.ts"
import type { RefusedAttempt } from "../../../protocol/audit-entry.ts"
import { auditMessage } from "../../../protocol/audit-message.ts"
import type { Refusal, Refusals } from "../ports.ts"
import type { KeeperLink } from "./keeper-link.ts"

export type AuditTiming = {
  monotonicMs(): number
  after(delayMs: number, run: () => void): Disposable
}

const windowMs = 1000
/** Of caller, way, method and reason. */
const mostKinds = 1000
/** So many wait for the keeper at most: the kinds, each twice, and the sum of all others. */
const mostWaiting = 2 * mostKinds
const mostInMessage = 100
const farewellMs = 500

/**
 * Tells the keeper, who writes it down, what was refused here. So that nothing is noted twice, a
 * failure that the keeper has noted says so itself; whatever else is refused is noted here. The
 * first of a kind is told at once, the others within a second as a number.
 */
export class AuditTrail implements Refusals {
  readonly #link: () => KeeperLink
  readonly #timing: AuditTiming
  readonly #refusals = new Deduplicator<RefusedAttempt>(windowMs, mostKinds)
  #waiting: RefusedAttempt[] = []
  /** Refusals of kinds for which there was no room. */
  #others = 0
  #sending: Promise<void> | null = null
  #timer: Disposable | null = null

  constructor(link: () => KeeperLink, timing: AuditTiming) {
    this.#link = link
    this.#timing = timing
  }

  refused({ failure, executionId, ...asked }: Refusal): void {
    if (failure.audited === true) return
    const { principal, address, via, method, node } = asked
    const { reason } = failure
    const id = ExecutionIdPrefix.safeParse(executionId).data
    const attempt: RefusedAttempt = {
      event: "attempt",
      principal,
      address,
      via,
      ...(node === undefined ? {} : { from_node: node }),
      method,
      ...(id === undefined ? {} : { execution_id: id }),
      outcome: "refused",
      reason,
      message: auditMessage(failure),
    }
    const kind = JSON.stringify([principal, address, via, node, method, reason])
    const taken = this.#refusals.add(kind, attempt, this.#timing.monotonicMs())
    if (taken === "first") this.#tell(attempt)
    else if (taken === "full") this.#others += 1
    this.#timer ??= this.#timing.after(windowMs, () => this.#passWindow())
  }

  /** Tells what was only counted so far, and waits a moment for the keeper to take it. */
  async close(): Promise<void> {
    this.#timer?.[Symbol.dispose]()
    this.#tellRepeats(Number.POSITIVE_INFINITY)
    // Where there is no room, the sum is the one that waits beyond the bound: no other comes later.
    if (this.#others > 0) this.#waiting.push(sumOf(this.#takeOthers()))
    const { promise, resolve } = Promise.withResolvers<void>()
    using _deadline = this.#timing.after(farewellMs, resolve)
    await Promise.race([promise, this.#sending])
  }

  #passWindow(): void {
    this.#tellRepeats(this.#timing.monotonicMs())
    const isDone = this.#refusals.isEmpty && this.#others === 0
    this.#timer = isDone ? null : this.#timing.after(windowMs, () => this.#passWindow())
  }

  #tellRepeats(nowMs: number): void {
    for (const { entry, count } of this.#refusals.due(nowMs)) this.#tell({ ...entry, count })
    if (this.#others > 0) this.#tell(sumOf(this.#takeOthers()))
  }

  /** Taken before it is told: where there is no room for the sum either, it is counted again. */
  #takeOthers(): number {
    const count = this.#others
    this.#others = 0
    return count
  }

  #tell(attempt: RefusedAttempt): void {
    if (this.#waiting.length < mostWaiting) this.#waiting.push(attempt)
    else this.#others += attempt.count ?? 1
    this.#sending ??= this.#send()
  }

  /** One message at a time: what comes meanwhile goes with the next. */
  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const refusals = this.#waiting.slice(0, mostInMessage)
      this.#waiting = this.#waiting.slice(mostInMessage)
      await this.#link()
        .call("audit", { refusals })
        .catch(() => undefined) // the keeper is gone, and this process ends too
    }
    this.#sending = null
  }
}

function sumOf(count: number): RefusedAttempt {
  const message = "Refusals of more kinds than could be told apart, from any number of callers."
  return {
    event: "attempt",
    principal: null,
    address: "several",
    via: "several",
    method: "several",
    outcome: "refused",
    message,
    count,
  }
}
