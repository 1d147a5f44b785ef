import { readlinkSync, writeFileSync } from "node:fs"
import { z } from "zod"
import { ExecutionId } from "../../../execution/id.ts"
import { ProcessIdentity } from "../../../execution/record.ts"
import { isErrno } from "../../../lib/errno.ts"
import { readOwned, replaceOwned } from "../../../lib/owned-file.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import { UntrustedFileError } from "../../../lib/untrusted-file.ts"
import { statePathsIn } from "../../storage/state-paths.ts"
import { bootId, readStat } from "../proc.ts"
import type { Containment } from "./containment.ts"
import type { Forest } from "./forest.ts"

/**
 * What the next keeper, or the gateway when it is left alone, must know to end trees whose keeper
 * died: where the cgroups are, and who was seen in which tree.
 */
const TreeMemory = z.object({
  /** Pids mean nothing after a reboot, nor in another pid namespace. */
  world: z.string(),
  cgroupBase: z.string().nullable(),
  gateway: ProcessIdentity.nullable(),
  seen: z.record(ExecutionId, z.array(ProcessIdentity)),
})
export type TreeMemory = z.infer<typeof TreeMemory>

const mostBytes = 64 * 1024 * 1024

/** Null when there is none, or when it speaks of another boot or pid namespace. */
export function readTreeMemory(stateDir: string): TreeMemory | null {
  // One that a crash has cut short, or that is not to be trusted, is as good as none.
  const memory = TreeMemory.safeParse(tryParseJson(readText(statePathsIn(stateDir).trees)))
  return memory.success && memory.data.world === thisWorld() ? memory.data : null
}

function readText(path: string): string {
  try {
    return readOwned(path, mostBytes)?.toString("utf8") ?? ""
  } catch (error) {
    if (!(error instanceof UntrustedFileError)) throw error
    return ""
  }
}

export function writeTreeMemory(stateDir: string, memory: Omit<TreeMemory, "world">): void {
  const path = statePathsIn(stateDir).trees
  const text = JSON.stringify({ world: thisWorld(), ...memory } satisfies TreeMemory)
  try {
    replaceOwned(path, (file) => writeFileSync(file, text), { durable: false })
  } catch (error) {
    // Without space the older memory stays: less is known then, nothing wrong is.
    if (!isErrno(error, "ENOSPC", "EDQUOT")) throw error
  }
}

function thisWorld(): string {
  return `${bootId()} ${readlinkSync("/proc/self/ns/pid")}`
}

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
