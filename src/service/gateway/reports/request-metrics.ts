import type { MetricSamples } from "../../../protocol/metric-samples.ts"
import { metricSamples } from "../../metrics/catalogue.ts"
import { Histogram, shortSeconds } from "../../metrics/instruments.ts"

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
