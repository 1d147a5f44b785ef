import type { MemorySample } from "./scenario.ts"

/** What keeper and gateway take of the machine together: what the two share counts once. */
export function bothPssMb({ keeper, gateway }: MemorySample): number {
  return (keeper?.pssMb ?? 0) + (gateway?.pssMb ?? 0)
}
