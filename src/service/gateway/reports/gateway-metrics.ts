import type { GatewaySettings } from "../../../protocol/ipc.ts"
import type { MetricSamples } from "../../../protocol/metric-samples.ts"
import { catalogue, metricSamples, oneValue } from "../../metrics/catalogue.ts"
import type { LoopLag } from "../../metrics/loop-lag.ts"
import { processFigures } from "../../metrics/process-figures.ts"
import { textFormat } from "../../metrics/text-format.ts"
import type { OutputMetrics } from "./output-metrics.ts"
import { type UnreadinessName, unreadinessReasons } from "./readiness.ts"
import type { RequestMetrics } from "./request-metrics.ts"

export type MetricSources = {
  settings: Pick<GatewaySettings, "version" | "containment" | "maxSessions">
  commit: string
  sessions: () => number
  readers: () => number
  /** What keeps the service from taking work. */
  unreadiness: () => Promise<ReadonlyArray<{ name: UnreadinessName }>>
  certificateExpiresAt: () => Date | null
  /** Null when the keeper does not answer. */
  keeper: () => Promise<readonly MetricSamples[] | null>
  output: OutputMetrics
  requests: RequestMetrics
  lag: LoopLag
}

/** All that there is to tell, as text. Without the keeper's part, it says so. */
export async function metricsText(sources: MetricSources): Promise<string> {
  const [keeper, unready] = await Promise.all([sources.keeper(), sources.unreadiness()])
  const own = [
    ...aboutService(sources),
    oneValue("cc_executor_keeper_answered", keeper === null ? 0 : 1),
    aboutReadiness(new Set(unready.map(({ name }) => name))),
    oneValue("cc_executor_sessions", sources.sessions()),
    oneValue("cc_executor_sessions_limit", sources.settings.maxSessions),
    oneValue("cc_executor_output_readers", sources.readers()),
    ...sources.output.samples(),
    ...sources.requests.samples(),
    metricSamples("cc_executor_event_loop_lag_seconds", [
      sources.lag.lag.sample({ process: "gateway" }),
    ]),
    ...processFigures("gateway"),
  ]
  return textFormat([...(keeper ?? []), ...own], catalogue)
}

function aboutService(sources: MetricSources): MetricSamples[] {
  const { version, containment } = sources.settings
  const expiresAt = sources.certificateExpiresAt()
  const build = { version, commit: sources.commit, bun: Bun.version }
  return [
    oneValue("cc_executor_build_info", 1, build),
    oneValue("cc_executor_containment_info", 1, { mode: containment }),
    ...(expiresAt === null
      ? []
      : [oneValue("cc_executor_tls_certificate_expiry_timestamp_seconds", +expiresAt / 1000)]),
  ]
}

function aboutReadiness(unready: ReadonlySet<string>): MetricSamples {
  const samples = Object.keys(unreadinessReasons).map((reason) => {
    return { labels: { reason }, value: unready.has(reason) ? 1 : 0 }
  })
  return metricSamples("cc_executor_unready", samples)
}
