import type { ExecutionId } from "../../../execution/id.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import { type Outcome, StopCause } from "../../../execution/state.ts"
import { TrialVerdict } from "../../../execution/trial/announcement.ts"
import type { AuditNote } from "../../../protocol/audit-entry.ts"
import { Reason } from "../../../protocol/failure.ts"
import type { MetricSamples } from "../../../protocol/metric-samples.ts"
import { metricSamples, oneValue } from "../../metrics/catalogue.ts"
import { Histogram, longSeconds, shortSeconds, Tally } from "../../metrics/instruments.ts"
import type { Audit, Clock } from "../ports.ts"

const orders = ["PAUSE", "RESUME", "CANCEL", "SIGNAL"] as const
export type Order = (typeof orders)[number]

const restartReasons = ["ended", "hung", "not-understood"] as const
export type RestartReason = (typeof restartReasons)[number]

/** Refusals of kinds that the gateway could not tell apart any more have no reason of their own. */
const severalReasons = "several"

/** What the keeper counts as it happens; in the flow of output that is one addition for a piece. */
export class KeeperMetrics {
  readonly #clock: Pick<Clock, "now" | "monotonicMs">
  readonly #ended = new Map(allOutcomeLabels.map((labels) => [keyOf(labels), { labels, value: 0 }]))
  readonly #refusals = new Tally<string>("reason", [...Reason.options, severalReasons])
  readonly #judged = new Tally<TrialVerdict>("verdict", TrialVerdict.options)
  readonly #restarts = new Tally<RestartReason>("reason", restartReasons)
  readonly #queueWait = new Histogram(longSeconds)
  readonly #start = new Histogram(shortSeconds)
  readonly #firstOutput = new Histogram(longSeconds)
  readonly #control = new Map(orders.map((type) => [type, new Histogram(longSeconds)]))
  /** When those began that have said nothing yet. */
  readonly #silent = new Map<ExecutionId, number>()
  #started = 0
  #takenBytes = 0

  constructor(clock: Pick<Clock, "now" | "monotonicMs">) {
    this.#clock = clock
  }

  advanced(id: ExecutionId, bytes: number): void {
    this.#takenBytes += bytes
    if (bytes === 0 || this.#silent.size === 0) return
    const startedMs = this.#silent.get(id)
    if (startedMs === undefined) return
    this.#silent.delete(id)
    this.#firstOutput.observe(this.#secondsSince(startedMs))
  }

  /** `running` comes again after a pause, and whenever something else worth telling changes. */
  changed({ id, state, createdAt }: ExecutionRecord): void {
    if (state.kind === "starting") {
      // Only those that waited are told of as starting; the rest begin so.
      const waitedMs = this.#clock.now().getTime() - Date.parse(createdAt)
      this.#queueWait.observe(waitedMs / 1000)
    }
    if (state.kind !== "ended") return
    this.#silent.delete(id)
    const ended = this.#ended.get(keyOf(outcomeLabels(state.outcome)))
    if (ended !== undefined) ended.value += 1
  }

  began(id: ExecutionId): void {
    this.#started += 1
    this.#silent.set(id, this.#clock.monotonicMs())
  }

  startAnswered(sinceMs: number): void {
    this.#start.observe(this.#secondsSince(sinceMs))
  }

  obeyed(order: Order, sinceMs: number): void {
    this.#control.get(order)?.observe(this.#secondsSince(sinceMs))
  }

  judged(verdict: TrialVerdict): void {
    this.#judged.add(verdict)
  }

  gatewayRestarted(reason: RestartReason): void {
    this.#restarts.add(reason)
  }

  /** The audit trail, with what it is told of refusals counted here. */
  noting(audit: Audit): Audit {
    return {
      note: (note) => {
        this.#countRefusal(note)
        audit.note(note)
      },
    }
  }

  samples(): MetricSamples[] {
    const control = [...this.#control].map(([type, seconds]) => seconds.sample({ type }))
    return [
      oneValue("cc_executor_executions_started_total", this.#started),
      metricSamples("cc_executor_executions_ended_total", [...this.#ended.values()]),
      metricSamples("cc_executor_queue_wait_seconds", [this.#queueWait.sample()]),
      metricSamples("cc_executor_execution_start_seconds", [this.#start.sample()]),
      metricSamples("cc_executor_execution_first_output_seconds", [this.#firstOutput.sample()]),
      metricSamples("cc_executor_control_seconds", control),
      oneValue("cc_executor_output_taken_bytes_total", this.#takenBytes),
      metricSamples("cc_executor_refusals_total", this.#refusals.samples()),
      metricSamples("cc_executor_trials_judged_total", this.#judged.samples()),
      metricSamples("cc_executor_gateway_restarts_total", this.#restarts.samples()),
    ]
  }

  #countRefusal(note: AuditNote): void {
    if (note.event !== "attempt" || note.outcome !== "refused") return
    this.#refusals.add(note.reason ?? severalReasons, note.count ?? 1)
  }

  #secondsSince(startedMs: number): number {
    return (this.#clock.monotonicMs() - startedMs) / 1000
  }
}

function keyOf({ outcome, cause }: { outcome: string; cause: string }): string {
  return `${outcome} ${cause}`
}

type OutcomeLabels = { outcome: Outcome["kind"]; cause: string }

/** What is told of an end: as much as can be counted, nothing that somebody made up. */
export function outcomeLabels(outcome: Outcome): OutcomeLabels {
  const { kind } = outcome
  switch (kind) {
    case "exited":
      return { outcome: kind, cause: outcome.exitCode === 0 ? "zero" : "nonzero" }
    case "signaled":
      return { outcome: kind, cause: "signal" }
    case "stopped":
      return { outcome: kind, cause: outcome.cause }
    case "failed-to-start":
      return { outcome: kind, cause: "spawn" }
    case "lost":
      return { outcome: kind, cause: lossCause(outcome.reason) }
  }
}

/** Every pair there can be, so that what has not happened yet is told as zero. */
export const allOutcomeLabels: readonly OutcomeLabels[] = [
  { outcome: "exited", cause: "zero" },
  { outcome: "exited", cause: "nonzero" },
  { outcome: "signaled", cause: "signal" },
  ...StopCause.options.map((cause) => ({ outcome: "stopped" as const, cause })),
  { outcome: "failed-to-start", cause: "spawn" },
  { outcome: "lost", cause: "internal" },
  { outcome: "lost", cause: "unkillable" },
  { outcome: "lost", cause: "service-ended" },
]

/** By how the sentence begins, which is all that a record keeps of it. */
function lossCause(reason: string): string {
  if (reason.startsWith("internal:")) return "internal"
  return reason.startsWith("SIGKILL") ? "unkillable" : "service-ended"
}
