import type { GatewaySettings } from "../../../protocol/gateway-settings.ts"
import type { MetricSamples } from "../../../protocol/metric-samples.ts"
import { catalogue, metricSamples, oneValue } from "../../metrics/catalogue.ts"
import { Histogram, shortSeconds } from "../../metrics/instruments.ts"
import type { LoopLag } from "../../metrics/loop-lag.ts"
import { processFigures } from "../../metrics/process-figures.ts"
import { textFormat } from "../../metrics/text-format.ts"
import { type UnreadinessName, unreadinessReasons } from "./readiness.ts"

export type MetricSources = {
  settings: Pick<GatewaySettings, "version" | "containment" | "maxSessions">
  commit: string
  sessions: () => number
  readers: () => number
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

/** What readers that came by one way have got. A reader adds to it; that is all it costs. */
export class ReaderCounts {
  bytes = 0
  gaps = 0
  gapBytes = 0
  gapLines = 0
}

const ways = ["websocket", "http", "mcp-websocket", "mcp-http"] as const

export class OutputMetrics {
  readonly delay = new Histogram(shortSeconds)
  readonly #byWay = new Map<string, ReaderCounts>(ways.map((way) => [way, new ReaderCounts()]))

  /** For who comes by a way that is not known, there is none in the list either. */
  readerBy(via: string): ReaderCounts {
    return this.#byWay.get(via) ?? new ReaderCounts()
  }

  samples(): MetricSamples[] {
    const each = (count: keyof ReaderCounts) =>
      [...this.#byWay].map(([via, counts]) => ({ labels: { via }, value: counts[count] }))
    return [
      metricSamples("cc_executor_output_read_bytes_total", each("bytes")),
      metricSamples("cc_executor_gaps_told_total", each("gaps")),
      metricSamples("cc_executor_gaps_told_bytes_total", each("gapBytes")),
      metricSamples("cc_executor_gaps_told_lines_total", each("gapLines")),
      metricSamples("cc_executor_output_delay_seconds", [this.delay.sample()]),
    ]
  }
}

/**
 * Requests by what they ask for. Whoever calls passes names of routes and methods, never what a
 * client has sent: there are as many as the code has.
 */
export class RequestMetrics {
  readonly #http = new Map<string, Histogram>()
  readonly #rpc = new Map<string, Histogram>()
  readonly #answers = new Map<string, { labels: Record<string, string>; value: number }>()

  httpAnswered(operation: string, status: number, seconds: number): void {
    durationsOf(this.#http, operation).observe(seconds)
    const key = `${operation} ${status}`
    const answers = this.#answers.get(key)
    if (answers !== undefined) answers.value += 1
    else this.#answers.set(key, { labels: { operation, code: String(status) }, value: 1 })
  }

  rpcAnswered(method: string, seconds: number): void {
    durationsOf(this.#rpc, method).observe(seconds)
  }

  samples(): MetricSamples[] {
    const http = [...this.#http].map(([operation, seconds]) => seconds.sample({ operation }))
    const rpc = [...this.#rpc].map(([method, seconds]) => seconds.sample({ method }))
    return [
      metricSamples("cc_executor_http_requests_total", [...this.#answers.values()]),
      metricSamples("cc_executor_http_request_seconds", http),
      metricSamples("cc_executor_rpc_request_seconds", rpc),
    ]
  }
}

function durationsOf(all: Map<string, Histogram>, name: string): Histogram {
  const known = all.get(name)
  if (known !== undefined) return known
  const durations = new Histogram(shortSeconds)
  all.set(name, durations)
  return durations
}
