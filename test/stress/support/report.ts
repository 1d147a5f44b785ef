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
