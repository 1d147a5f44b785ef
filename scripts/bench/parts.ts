import { measureAgents } from "./agents.ts"
import { measureAttach } from "./attach.ts"
import type { Measured } from "./figure.ts"
import { measureLatency } from "./latency.ts"
import { measureLedger } from "./ledger.ts"
import { measureMcpStart } from "./mcp-start.ts"
import { measureMemory } from "./memory.ts"
import { measureNeighbours } from "./neighbours.ts"
import { measureNotifications } from "./notifications.ts"
import { measureOtherNode } from "./other-node.ts"
import { measureScaling } from "./scaling.ts"
import { measureScreens } from "./screens.ts"
import { measureSessions } from "./sessions.ts"
import { measureThroughput } from "./throughput.ts"

/** Parts of `bun run bench`, each of which can run alone. */
const parts = {
  throughput: measureThroughput,
  latency: measureLatency,
  memory: measureMemory,
  sessions: measureSessions,
  scaling: measureScaling,
  attach: measureAttach,
  screens: measureScreens,
  neighbours: measureNeighbours,
  "mcp-start": measureMcpStart,
  agents: measureAgents,
  ledger: measureLedger,
  notifications: measureNotifications,
  "other-node": measureOtherNode,
}

export type MeasuredPart = Measured & { name: string }

export const partNames: readonly string[] = Object.keys(parts)

export async function measureParts(
  executable: string,
  names: readonly string[] = partNames,
): Promise<MeasuredPart[]> {
  const measured: MeasuredPart[] = []
  for (const [name, measure] of Object.entries(parts)) {
    if (!names.includes(name)) continue
    const startedMs = performance.now()
    measured.push({ name, ...(await measure(executable)) })
    console.error(`${name}: ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
  }
  return measured
}
