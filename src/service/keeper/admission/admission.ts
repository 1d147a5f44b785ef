import { mostPerExecution } from "../../../execution/descriptor-needs.ts"
import { countText } from "../../../lib/count-text.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { TokenBuckets } from "../../../lib/token-bucket.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Clock, Descriptors } from "../ports.ts"
import { DescriptorBudget } from "./descriptor-budget.ts"
import { type DiskSettings, DiskUse, type LiveShare } from "./disk-use.ts"
import { ExecutionSlots, type SlotLimits, type Starter } from "./execution-slots.ts"
import { InodeBudget } from "./inode-budget.ts"

export type AdmissionSettings = SlotLimits & DiskSettings & { startsPerMinute: number }

/**
 * Whether somebody may start something now. A refusal here costs a few look-ups: neither the
 * journal nor the disk is asked, so that a flood of requests holds nobody up. Between the rate
 * and the room, the keeper looks up an idempotency key.
 */
export class Admission<Queued> {
  readonly slots: ExecutionSlots<Queued>
  readonly disk: DiskUse
  readonly descriptors: DescriptorBudget
  readonly inodes: InodeBudget
  readonly #settings: AdmissionSettings
  readonly #rate: StartRate

  constructor(
    settings: AdmissionSettings,
    clock: Clock,
    live: () => Iterable<LiveShare>,
    machine: { descriptors: Descriptors; freeInodes: () => number },
  ) {
    this.#settings = settings
    this.slots = new ExecutionSlots(settings)
    this.disk = new DiskUse(settings, clock, live)
    this.descriptors = new DescriptorBudget(machine.descriptors)
    this.inodes = new InodeBudget(machine.freeInodes, () => this.slots.running)
    this.#rate = new StartRate(settings.startsPerMinute, clock)
  }

  /** Counts the request, whatever becomes of it. Asked before anything else is. */
  rateRefusal({ principal, exempt }: Starter): Failure | null {
    if (exempt) return null
    const waitSeconds = this.#rate.take(principal)
    if (waitSeconds === 0) return null
    const message =
      `You may start ${countText(this.#settings.startsPerMinute, "execution")} per minute ` +
      `(--starts-per-minute): try again in ${waitSeconds} s.`
    return failure("RATE_LIMITED", message, { retry_after: waitSeconds })
  }

  availability(starter: Starter, descriptors: number): Result<"runs" | "waits", Failure> {
    const full = this.disk.refusal(starter)
    if (full !== null) return fail(full)
    const availability = this.slots.availability(starter)
    if (availability === "waits") return ok(availability)
    if (availability === "runs") {
      const tooFew = this.inodes.refusal() ?? this.descriptors.refusal(descriptors)
      return tooFew === null ? ok(availability) : fail(tooFew)
    }
    const message = availability === "full" ? this.#serviceIsFull() : this.#principalIsFull()
    return fail(failure("AT_CAPACITY", message, { retry_after: 1 }))
  }

  /** Whether the machine has what one more needs, whoever starts it and whatever it is. */
  machineHasRoom(): boolean {
    return this.descriptors.hasRoom(mostPerExecution) && this.inodes.hasRoom()
  }

  #serviceIsFull(): string {
    const { maxExecutions, maxQueue } = this.#settings
    if (this.slots.running < maxExecutions) {
      return `You run as many executions as you may, and ${maxQueue} are queued: try again later.`
    }
    return `All ${maxExecutions} slots are taken and ${maxQueue} are queued: try again later.`
  }

  #principalIsFull(): string {
    const { maxQueuePerPrincipal } = this.#settings
    return (
      `You have ${maxQueuePerPrincipal} queued executions, which is the limit ` +
      "(--max-queue-per-principal): try again when one has started."
    )
  }
}

const leastBurst = 10
/** More principals than there can be tokens for. */
const mostPrincipals = 10_000

/**
 * How often each principal may ask for a start. A burst of a tenth of a minute's worth passes, and
 * of ten at least.
 */
export class StartRate {
  readonly #clock: Pick<Clock, "monotonicMs">
  readonly #buckets: TokenBuckets

  constructor(startsPerMinute: number, clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock
    const burst = Math.max(leastBurst, Math.floor(startsPerMinute / 10))
    this.#buckets = new TokenBuckets({ perSecond: startsPerMinute / 60, burst }, mostPrincipals)
  }

  get size(): number {
    return this.#buckets.size
  }

  /** Counts a start, and answers 0; or nothing, and answers the seconds until one may pass. */
  take(principal: string): number {
    return this.#buckets.take(principal, this.#clock.monotonicMs())
  }
}
