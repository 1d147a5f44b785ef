import type { MetricSample, MetricSamples } from "../../protocol/metric-samples.ts"
import type { MetricName } from "./catalogue.ts"

/** A metric of several samples, under a name that the catalogue knows. */
export function told(name: MetricName, samples: MetricSample[]): MetricSamples {
  return { name, samples }
}

/** A metric with a single value. */
export function oneValue(
  name: MetricName,
  value: number,
  labels: Record<string, string> = {},
): MetricSamples {
  return told(name, [{ labels, value }])
}
