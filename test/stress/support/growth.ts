import { bothPssMb } from "./both-pss.ts"
import type { MemorySample } from "./scenario.ts"

/** Low points of a heap differ by some MB; a leak of 0.5 MB/s adds 10 in a minute's third. */
export const mostGrowthMb = 6

/** How much memory grew after the warm-up, in MB: of each process, and of both together. */
export function growthOf(samples: readonly MemorySample[]): Record<string, number> {
  const rounded = (values: (number | undefined)[]) =>
    Math.round(10 * growth(values.filter((value) => value !== undefined))) / 10
  return {
    "keeper RSS": rounded(samples.map(({ keeper }) => keeper?.rssMb)),
    "gateway RSS": rounded(samples.map(({ gateway }) => gateway?.rssMb)),
    "PSS of both": rounded(samples.map(bothPssMb)),
  }
}

/** For the report. */
export function growthNote(growths: Record<string, number>): string {
  const parts = Object.entries(growths).map(([name, mb]) => `${name} ${mb} MB`)
  return `growth after the warm-up: ${parts.join(", ")}`
}

/**
 * How much higher the last third of some samples lies than the second, by their low points: the
 * first third is warm-up, and what is above the low points is garbage that waits to be collected.
 * A low point is what a tenth of the samples lie below, so that a single odd one does not matter.
 */
export function growth(samples: readonly number[]): number {
  const third = Math.floor(samples.length / 3)
  if (third === 0) throw new Error(`${samples.length} samples show no growth`)
  return share(samples.slice(-third), 0.1) - share(samples.slice(third, -third), 0.1)
}

function share(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const value = sorted[Math.floor(sorted.length * part)]
  if (value === undefined) throw new Error("there is nothing to choose from")
  return value
}
