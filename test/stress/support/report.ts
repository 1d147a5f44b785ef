import { bothPssMb } from "./both-pss.ts"
import type { MemorySeries, Scenario } from "./scenario.ts"

/** All that one run of the suite has shown. */
export type Report = {
  mode: "short" | "full" | "long"
  seed: number
  machine: string
  scenarios: Scenario[]
}

/** Scenarios that passed, of all that were begun. */
export function passRate({ scenarios }: Report): { passed: number; of: number; percent: number } {
  const passed = scenarios.filter(({ outcome }) => outcome.kind === "passed").length
  const of = scenarios.length
  return { passed, of, percent: of === 0 ? 0 : (100 * passed) / of }
}

export function orphansOf({ scenarios }: Report): number {
  return scenarios.reduce((sum, { orphans }) => sum + orphans, 0)
}

export type MemoryPeaks = {
  name: string
  keeperRssMb: number
  gatewayRssMb: number
  bothPssMb: number
}

/** The most that each process held at any time, and both together in any one sample. */
export function memoryPeaks({ name, samples }: MemorySeries): MemoryPeaks {
  const most = (values: number[]) => values.reduce((a, b) => Math.max(a, b), 0)
  return {
    name,
    keeperRssMb: most(samples.map(({ keeper }) => keeper?.peakMb ?? 0)),
    gatewayRssMb: most(samples.map(({ gateway }) => gateway?.peakMb ?? 0)),
    bothPssMb: most(samples.map(bothPssMb)),
  }
}

/** Figures as people read them: three digits that matter, thousands apart. */
export function figure(value: number): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString("en", { maximumFractionDigits: digits })
}

export function duration(ms: number): string {
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}
