import { existsSync } from "node:fs"
import type { LimitsHeldBy, ResourceLimits } from "../../../execution/spec.ts"
import type { Launch } from "../../keeper/ports.ts"
import { getRlimit, RLIMIT_DATA, RLIMIT_NPROC, type Rlimit } from "../libc.ts"

/** Lowers its own limits, then becomes the program. Of util-linux, where only root may write. */
const prlimit = ["/usr/bin/prlimit", "/bin/prlimit"].find((path) => existsSync(path)) ?? null

/**
 * What this machine's rlimits can hold, for children of a user. The kernel exempts root from the
 * number of processes; for nobody has it a share of the processors.
 */
export function rlimitHolders(childrenUid: number): LimitsHeldBy {
  return {
    memoryBytes: prlimit === null ? null : "rlimit",
    cpus: null,
    pids: prlimit === null || childrenUid === 0 ? null : "rlimit",
  }
}

/**
 * What to start so that a program has its rlimits from its first instruction on, and all that it
 * starts with it. To set them from outside comes too late: a runtime that has reserved more than it
 * may by then can get nothing any more, and breaks; one that finds the limit there reserves less.
 */
export function withRlimits(
  launch: Pick<Launch, "argv" | "argv0" | "limits" | "limitsHeldBy">,
  openFiles: Rlimit | null = null,
): Pick<Launch, "argv" | "argv0"> {
  const { argv, argv0, limits, limitsHeldBy } = launch
  const wanted = wantedRlimits(limits, limitsHeldBy)
  if (openFiles !== null) wanted.push(`--nofile=${openFiles.soft}:${openFiles.hard}`)
  if (wanted.length === 0 || prlimit === null) return { argv, argv0 }
  return { argv: [prlimit, ...wanted, "--", ...argv], argv0: null }
}

function wantedRlimits(limits: ResourceLimits, heldBy: LimitsHeldBy): string[] {
  const wanted: string[] = []
  const { memoryBytes, pids } = limits
  // Not the address space: runtimes reserve far more of that than they will ever use.
  if (memoryBytes !== null && heldBy.memoryBytes === "rlimit") {
    wanted.push(option("data", RLIMIT_DATA, memoryBytes))
  }
  if (pids !== null && heldBy.pids === "rlimit") {
    wanted.push(option("nproc", RLIMIT_NPROC, pids))
  }
  return wanted
}

/** Never raises what is lower already: nobody but root may. */
function option(name: string, resource: number, asked: number): string {
  const hard = getRlimit(process.pid, resource)?.hard ?? BigInt(asked)
  const most = hard < BigInt(asked) ? hard : BigInt(asked)
  return `--${name}=${most}:${most}`
}
