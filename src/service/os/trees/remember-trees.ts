import { readStat } from "../proc.ts"
import type { Containment } from "./containment.ts"
import type { Forest } from "./forest.ts"
import { writeTreeMemory } from "./tree-memory.ts"

/** Writes down who was seen in which tree, for whoever must end them should the keeper die. */
export function rememberTrees(
  stateDir: string,
  containment: Containment,
  forest: Forest,
  gatewayPid: number | null,
): void {
  const startTicks = gatewayPid === null ? undefined : readStat(gatewayPid)?.startTicks
  writeTreeMemory(stateDir, {
    cgroupBase: containment.cgroupBase,
    gateway:
      gatewayPid === null || startTicks === undefined ? null : { pid: gatewayPid, startTicks },
    seen: forest.isEmpty ? {} : forest.remembered(),
  })
}
