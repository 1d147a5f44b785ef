import type { MetricSamples } from "../../../protocol/metric-samples.ts"
import { metricSamples } from "../../metrics/catalogue.ts"
import { Histogram, shortSeconds } from "../../metrics/instruments.ts"

/** What readers that came by one way have got. A reader adds to it; that is all it costs. */
export class ReaderCounts {
  bytes = 0
  gaps = 0
  gapBytes = 0
  gapLines = 0
}

const ways = ["websocket", "http", "mcp-websocket", "mcp-http"] as const

/** Output on its way to clients. */
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
