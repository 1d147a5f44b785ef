import { mostPerExecution } from "../../../execution/descriptor-needs.ts"
import type { Count, StreamName } from "../../../execution/record.ts"
import { liveStates, type StateKind } from "../../../execution/state.ts"
import { Obstacle } from "../../../protocol/ipc.ts"
import type { MetricSamples } from "../../../protocol/metric-samples.ts"
import { metricSamples, oneValue } from "../../metrics/catalogue.ts"
import type { LoopLag } from "../../metrics/loop-lag.ts"
import { processFigures } from "../../metrics/process-figures.ts"
import type { Keeper } from "../keeper.ts"
import type { RecordedTotals } from "../ports.ts"
import type { KeeperMetrics } from "./keeper-metrics.ts"

export type KeeperReport = ReturnType<typeof keeperReport>

export type ReportSources = {
  keeper: Pick<Keeper, "live" | "disk" | "admission">
  metrics: KeeperMetrics
  lag: LoopLag
  recorded: RecordedTotals
  bounds: { maxExecutions: number; maxQueue: number; maxDiskBytes: number }
  audit: () => { lines: number; lostLines: number }
  deliveries: () => MetricSamples[]
  disk: () => { freeBytes: number; sizeBytes: number }
  /** Ends that no room was found for yet. */
  unwrittenEnds: () => number
  gatewayIsUnstable: () => boolean
}

/** Less than this, and the journal may have no room for the next event. */
const fullBelowBytes = 1024 * 1024

const streams: readonly StreamName[] = ["stdout", "stderr"]

/** How the keeper is, when somebody asks. */
export function keeperReport(sources: ReportSources) {
  const { keeper, metrics, lag, recorded, bounds } = sources
  return {
    obstacles(): Obstacle[] {
      const states = countStates(keeper)
      const { inodes, descriptors } = keeper.admission
      const found: Record<Obstacle, boolean> = {
        "disk-full": sources.disk().freeBytes < fullBelowBytes || sources.unwrittenEnds() > 0,
        "inodes-used-up": !inodes.hasRoom(),
        "transcripts-full": keeper.disk.live().totalBytes >= bounds.maxDiskBytes,
        "queue-full": isFull(states, bounds),
        "descriptors-used-up": !descriptors.hasRoom(mostPerExecution),
        "gateway-restarts": sources.gatewayIsUnstable(),
      }
      return Obstacle.options.filter((name) => found[name])
    },
    metrics: (): MetricSamples[] => [
      ...executionMetrics(countStates(keeper), bounds),
      ...metrics.samples(),
      ...outputMetrics(recorded),
      ...auditMetrics(sources.audit()),
      ...sources.deliveries(),
      ...diskMetrics(keeper, sources.disk()),
      metricSamples("cc_executor_event_loop_lag_seconds", [lag.lag.sample({ process: "keeper" })]),
      ...processFigures("keeper"),
    ],
  }
}

type StateCounts = ReadonlyMap<StateKind, number>

function countStates(keeper: Pick<Keeper, "live">): StateCounts {
  const counts = new Map<StateKind, number>(liveStates.map((state) => [state, 0]))
  for (const { record } of keeper.live.all()) {
    const { kind } = record.state
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}

/** Whether somebody new would neither run nor wait. */
function isFull(states: StateCounts, bounds: ReportSources["bounds"]): boolean {
  const queued = states.get("queued") ?? 0
  const all = [...states.values()].reduce((sum, count) => sum + count, 0)
  return all - queued >= bounds.maxExecutions && queued >= bounds.maxQueue
}

function executionMetrics(states: StateCounts, bounds: ReportSources["bounds"]): MetricSamples[] {
  const samples = liveStates.map((state) => ({ labels: { state }, value: states.get(state) ?? 0 }))
  return [
    metricSamples("cc_executor_executions", samples),
    oneValue("cc_executor_executions_limit", bounds.maxExecutions),
    oneValue("cc_executor_queue_length", states.get("queued") ?? 0),
    oneValue("cc_executor_queue_limit", bounds.maxQueue),
  ]
}

function outputMetrics(totals: RecordedTotals): MetricSamples[] {
  const { forgotten, unrecorded } = totals
  const dropped = [
    { labels: { reason: "budget" }, count: forgotten },
    { labels: { reason: "unrecorded" }, count: unrecorded },
  ]
  const recorded = streams.map((stream) => ({ labels: { stream }, count: totals[stream] }))
  const each = (unit: keyof Count, rows: typeof dropped | typeof recorded) =>
    rows.map(({ labels, count }) => ({ labels, value: count[unit] }))
  return [
    metricSamples("cc_executor_output_recorded_bytes_total", each("bytes", recorded)),
    metricSamples("cc_executor_output_recorded_lines_total", each("lines", recorded)),
    metricSamples("cc_executor_output_dropped_bytes_total", each("bytes", dropped)),
    metricSamples("cc_executor_output_dropped_lines_total", each("lines", dropped)),
  ]
}

function auditMetrics({ lines, lostLines }: { lines: number; lostLines: number }): MetricSamples[] {
  return [
    oneValue("cc_executor_audit_lines_total", lines),
    oneValue("cc_executor_audit_lines_lost_total", lostLines),
  ]
}

function diskMetrics(
  keeper: Pick<Keeper, "disk">,
  { freeBytes, sizeBytes }: { freeBytes: number; sizeBytes: number },
): MetricSamples[] {
  const kept = [
    { labels: { executions: "live" }, value: keeper.disk.live().totalBytes },
    { labels: { executions: "ended" }, value: keeper.disk.endedBytes },
  ]
  return [
    metricSamples("cc_executor_transcripts_bytes", kept),
    oneValue("cc_executor_disk_free_bytes", freeBytes),
    oneValue("cc_executor_disk_size_bytes", sizeBytes),
  ]
}
