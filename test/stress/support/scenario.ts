import { z } from "zod"

const ProcessMemory = z.object({
  rssMb: z.number(),
  peakMb: z.number().describe("the most it ever held, as the kernel saw it between two samples"),
  pssMb: z.number().describe("what is shared is divided among those who share it"),
})
export type ProcessMemory = z.infer<typeof ProcessMemory>

const MemorySample = z.object({
  atMs: z.number().describe("since the scenario began"),
  keeper: ProcessMemory.nullable().describe("null while there is none"),
  gateway: ProcessMemory.nullable(),
})
export type MemorySample = z.infer<typeof MemorySample>

const Latency = z.object({
  what: z.string(),
  count: z.int(),
  p50Ms: z.number(),
  p99Ms: z.number(),
  maxMs: z.number(),
})
export type Latency = z.infer<typeof Latency>

const Outcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("passed") }),
  z.object({ kind: z.literal("failed"), error: z.string() }),
  z.object({ kind: z.literal("unfinished") }),
])
export type Outcome = z.infer<typeof Outcome>

/** What one scenario has shown: kept as JSON, so that the report covers all of a run. */
export const Scenario = z.object({
  name: z.string(),
  startedAt: z.iso.datetime(),
  durationMs: z.number(),
  outcome: Outcome,
  latencies: z.array(Latency),
  memory: z.array(z.object({ name: z.string(), samples: z.array(MemorySample) })),
  orphans: z.int(),
  counts: z.array(z.object({ what: z.string(), value: z.number() })),
  notes: z.array(z.string()),
})
export type Scenario = z.infer<typeof Scenario>
export type MemorySeries = Scenario["memory"][number]
