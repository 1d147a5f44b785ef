import type { Latency } from "./scenario.ts"

/** By the nearest rank: each figure is a sample that was really taken. */
export function summarize(what: string, samples: readonly number[]): Latency {
  const sorted = samples.toSorted((a, b) => a - b)
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
  return { what, count: sorted.length, p50Ms: rank(0.5), p99Ms: rank(0.99), maxMs: rank(1) }
}
