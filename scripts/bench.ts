import { cpus } from "node:os"
import { join } from "node:path"
import { measureLatency } from "./bench/latency.ts"
import { measureMemory } from "./bench/memory.ts"
import { measureThroughput } from "./bench/throughput.ts"
import { bun, root } from "./steps.ts"

/** A figure, and where there is one, what it is compared with in the same run. */
export type Figure = {
  what: string
  value: number
  unit: string
  floor?: number
  /** value / floor, or floor / value where less is better: 1 is as good as the floor. */
  ratio?: number
}

const built = await bun(join("scripts", "build.ts"))
if (built !== 0) process.exit(built)
const executable = join(root, "dist", "cc-executor")

const figures: Figure[] = []
for (const measure of [measureThroughput, measureLatency, measureMemory]) {
  figures.push(...(await measure(executable)))
}

const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}, Bun ${Bun.version}`
console.log(`\n${machine}\n`)
console.table(
  figures.map(({ what, value, unit, floor, ratio }) => ({
    what,
    value: `${value} ${unit}`,
    floor: floor === undefined ? "" : `${floor} ${unit}`,
    ratio: ratio ?? "",
  })),
)
console.log(JSON.stringify({ machine, date: new Date().toISOString(), figures }))
process.exit(0)
