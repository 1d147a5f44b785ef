import type { z } from "zod"
import { ignoreUnhandledRejection } from "../../../lib/ignore-unhandled-rejection.ts"
import type {
  HealthFacts,
  History as HistoryReport,
  HistorySample,
} from "../../../protocol/health-report.ts"
import type { MetricSamples } from "../../../protocol/metric-samples.ts"

/** A look so often, for an hour: little enough to keep, and to wake up for. */
const everyMs = 15_000
const mostSamples = 240

export type HistorySources = {
  facts: () => Pick<HealthFacts, "sessions" | "executions" | "rss_bytes">
  /** Null when the keeper does not answer. */
  keeper: () => Promise<readonly MetricSamples[] | null>
}

/** How the service was lately, for plots. It begins anew with the gateway. */
export class History implements Disposable {
  readonly #sources: HistorySources
  readonly #samples: HistorySample[] = []
  #isLooking = false
  #isOver = false
  readonly #timer: ReturnType<typeof setInterval>

  constructor(sources: HistorySources) {
    this.#sources = sources
    this.#timer = setInterval(() => this.#lookUnlessBusy(), everyMs)
  }

  report(): z.infer<typeof HistoryReport> {
    return { every_s: everyMs / 1000, samples: [...this.#samples] }
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    clearInterval(this.#timer)
  }

  /** A sample that cannot be had is missing: nobody waits for it. */
  #lookUnlessBusy(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    ignoreUnhandledRejection(this.#look().finally(() => (this.#isLooking = false)))
  }

  async #look(): Promise<void> {
    const metrics = await this.#sources.keeper()
    if (this.#isOver) return
    const { sessions, executions, rss_bytes } = this.#sources.facts()
    this.#samples.push({
      at: new Date().toISOString(),
      sessions,
      executions: Object.values(executions).reduce((sum, count) => sum + count, 0),
      rss_bytes,
      output_bytes: totalOf(metrics, "cc_executor_output_recorded_bytes_total"),
      dropped_bytes: totalOf(metrics, "cc_executor_output_dropped_bytes_total"),
    })
    if (this.#samples.length > mostSamples) this.#samples.shift()
  }
}

function totalOf(metrics: readonly MetricSamples[] | null, name: string): number | null {
  const found = metrics?.find((one) => one.name === name)
  if (found === undefined) return null
  return found.samples.reduce((sum, one) => sum + ("value" in one ? one.value : 0), 0)
}
