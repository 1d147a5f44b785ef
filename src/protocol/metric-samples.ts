import { z } from "zod"

const Labels = z.record(z.string(), z.string())

const Value = z.object({ labels: Labels, value: z.number() })

const Distribution = z.object({
  labels: Labels,
  bounds: z.array(z.number()).describe("upper bounds of the buckets, ascending, all finite"),
  counts: z.array(z.int().min(0)).describe("of each bucket alone, then of what is above them all"),
  sum: z.number(),
})
export type Distribution = z.infer<typeof Distribution>

/** What one process has counted or measured under one name; what it means is in the catalogue. */
export const MetricSamples = z.object({
  name: z.string(),
  samples: z.array(z.union([Value, Distribution])),
})
export type MetricSamples = z.infer<typeof MetricSamples>
export type MetricSample = MetricSamples["samples"][number]
