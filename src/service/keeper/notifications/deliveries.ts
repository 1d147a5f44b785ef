import type { AttemptReport, AttemptResult, DeliveryOutcome } from "../../../execution/delivery.ts"
import type { NotifyTarget, TargetName } from "../../../execution/notify-target.ts"
import type { Log } from "../../../lib/log.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { KeeperParams, KeeperResult } from "../../../protocol/ipc.ts"
import type { MetricSamples } from "../../../protocol/metric-samples.ts"
import { metricSamples } from "../../metrics/catalogue.ts"
import type { AuditedKeeper } from "../audit/audited-keeper.ts"
import type { Outbox } from "../outbox.ts"
import type { Clock } from "../ports.ts"
import { diskFull } from "../starting/start-failed.ts"
import type { Notices } from "./notices.ts"

/** Settled deliveries are evidence for this long. */
const settledKeptMs = 7 * 24 * 60 * 60 * 1000
/** For one target. */
const mostPending = 100_000
/** What is written meanwhile is told of together. */
const tellMs = 50
/** Where a service ends when it is idle, it first tries for so long to tell what is left. */
const freshMs = 60_000

type Ports = {
  /** Made when it is first asked for. */
  outbox: () => Outbox
  clock: Pick<Clock, "now" | "after">
  log: Log
  audited: Pick<AuditedKeeper, "asked">
  sync: () => Promise<void>
  withReserve: (write: () => void) => boolean
  /** Up to this one, the gateway may deliver. */
  synced: (ordinal: number) => void
}

/** The keeper's part in telling people: it writes down what the gateway delivers. */
export class Deliveries {
  readonly #targets: ReadonlyMap<TargetName, TargetCounts>
  readonly #maxAgeMs: number
  readonly #notices: Notices
  readonly #ports: Ports
  #synced = 0
  #isTelling = false

  constructor(targets: readonly NotifyTarget[], maxAgeMs: number, notices: Notices, ports: Ports) {
    this.#targets = new Map(targets.map(({ name }) => [name, noCounts()]))
    this.#maxAgeMs = maxAgeMs
    this.#notices = notices
    this.#ports = ports
  }

  test({
    origin,
    target,
  }: KeeperParams<"testTarget">): Result<KeeperResult<"testTarget">, Failure> {
    const { outbox, audited, withReserve } = this.#ports
    const delivery = this.#notices.ofTest(target, origin.principal)
    const outcome =
      delivery === null
        ? fail(failure("INVALID_PARAMS", `Unknown target: ${target}.`))
        : withReserve(() => outbox().add(delivery))
          ? ok({ delivery: delivery.id })
          : diskFull
    return audited.asked(origin, { method: "notify.test" }, outcome)
  }

  report(reports: readonly AttemptReport[]): Result<Record<string, never>, Failure> {
    const { outbox, withReserve } = this.#ports
    if (!withReserve(() => outbox().report(reports))) return diskFull
    for (const { attempt, then, target } of reports) {
      const counts = this.#targets.get(target)
      if (counts === undefined) continue
      counts.attempts[attempt.result] += 1
      if (then.kind === "settled") counts.settled[then.outcome] += 1
    }
    return ok({})
  }

  /** Whoever delivers must not tell what a loss of power could undo. */
  async sync(): Promise<Result<KeeperResult<"syncOutbox">, Failure>> {
    const ordinal = this.#ports.outbox().lastOrdinal()
    await this.#ports.sync()
    return ok({ ordinal })
  }

  /** The sync is the one that whoever wrote an end waits for anyway. */
  async written(ordinal: number): Promise<void> {
    await this.#ports.sync()
    this.#synced = Math.max(this.#synced, ordinal)
    if (this.#isTelling) return
    this.#isTelling = true
    this.#ports.clock.after(tellMs, () => {
      this.#isTelling = false
      this.#ports.synced(this.#synced)
    })
  }

  /** Gives up what is too old or too much, and forgets what was settled long ago. */
  tidy(): void {
    const { outbox, clock, log } = this.#ports
    const nowMs = clock.now().getTime()
    const givenUp = outbox().tidy({
      createdBefore: new Date(nowMs - this.#maxAgeMs),
      settledBefore: new Date(nowMs - settledKeptMs),
      mostPending,
    })
    for (const [outcome, byTarget] of Object.entries(givenUp)) {
      for (const [target, messages] of byTarget) {
        log.error({ target, messages, outcome }, "notifications given up")
      }
    }
    for (const outcome of ["expired", "displaced"] as const) {
      for (const [target, messages] of givenUp[outcome]) {
        const counts = this.#targets.get(target)
        if (counts !== undefined) counts.settled[outcome] += messages
      }
    }
  }

  /** Whether something waits that has not waited for long: then a service is not idle. */
  get areFresh(): boolean {
    if (this.#targets.size === 0) return false
    return this.#ports.outbox().isFresh(new Date(this.#ports.clock.now().getTime() - freshMs))
  }

  metrics(): MetricSamples[] {
    if (this.#targets.size === 0) return []
    const pending = this.#ports.outbox().pending()
    const each = [...this.#targets]
    return [
      metricSamples(
        "cc_executor_notifications_pending",
        each.map(([target]) => ({ labels: { target }, value: pending.get(target) ?? 0 })),
      ),
      metricSamples(
        "cc_executor_notification_attempts_total",
        each.flatMap(([target, { attempts }]) =>
          Object.entries(attempts).map(([result, value]) => ({
            labels: { target, result },
            value,
          })),
        ),
      ),
      metricSamples(
        "cc_executor_notifications_settled_total",
        each.flatMap(([target, { settled }]) =>
          Object.entries(settled).map(([outcome, value]) => ({
            labels: { target, outcome },
            value,
          })),
        ),
      ),
    ]
  }
}

type TargetCounts = {
  attempts: Record<AttemptResult, number>
  settled: Record<DeliveryOutcome, number>
}

function noCounts(): TargetCounts {
  return {
    attempts: { delivered: 0, failed: 0, refused: 0 },
    settled: { delivered: 0, refused: 0, expired: 0, exhausted: 0, displaced: 0 },
  }
}
