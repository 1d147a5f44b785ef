import type { ProcessIdentity } from "../execution/record.ts"
import type { LimitsHeldBy, ResourceLimits } from "../execution/spec.ts"
import { getRlimit, RLIMIT_DATA, RLIMIT_NPROC, setRlimit } from "./libc.ts"

/** A tree that goes on growing faster than it is looked at is no tree of ours to hold. */
const mostLooks = 100

/**
 * What this machine's rlimits can hold, for children of a user. The kernel exempts root from the
 * number of processes; for nobody has it a share of the processors.
 */
export function rlimitHolders(childrenUid: number): LimitsHeldBy {
  const isHere = getRlimit(process.pid, RLIMIT_DATA) !== null
  return {
    memoryBytes: isHere ? "rlimit" : null,
    cpus: null,
    pids: isHere && childrenUid !== 0 ? "rlimit" : null,
  }
}

/**
 * Holds a leader that has just been started to its limits, and then all that it has started
 * meanwhile; what they start from now on inherits them. Looks until a look finds nobody without.
 * A fork that was under way then has a child with the limits of before: where the tree cannot be
 * made to stand still, that one is found later.
 */
export function holdByRlimits(
  leader: ProcessIdentity,
  tree: LimitedTree,
  limits: ResourceLimits,
  heldBy: LimitsHeldBy,
): void {
  const wanted = wantedRlimits(limits, heldBy)
  if (wanted.length === 0) return
  // Before anything else: a runtime that has reserved more than it may cannot go on afterwards.
  lower(leader.pid, wanted)
  using _still = tree.standStill()
  for (let look = 0; look < mostLooks; look++) {
    const isAnyNew = tree.membersNow().map(({ pid }) => lower(pid, wanted))
    if (!isAnyNew.includes(true)) return
  }
  throw new Error(`pid ${leader.pid} started processes faster than limits could be set`)
}

type LimitedTree = { membersNow(): ProcessIdentity[]; standStill(): Disposable }
type Rlimit = { resource: number; most: bigint }

function wantedRlimits(limits: ResourceLimits, heldBy: LimitsHeldBy): Rlimit[] {
  const wanted: Rlimit[] = []
  const { memoryBytes, pids } = limits
  // Not the address space: runtimes reserve far more of that than they will ever use.
  if (memoryBytes !== null && heldBy.memoryBytes === "rlimit") {
    wanted.push({ resource: RLIMIT_DATA, most: BigInt(memoryBytes) })
  }
  if (pids !== null && heldBy.pids === "rlimit") {
    wanted.push({ resource: RLIMIT_NPROC, most: BigInt(pids) })
  }
  return wanted
}

/** Answers whether one of them was higher before. Never raises what is lower. */
function lower(pid: number, wanted: Rlimit[]): boolean {
  let wasHigher = false
  for (const { resource, most } of wanted) {
    const now = getRlimit(pid, resource)
    if (now === null || (now.soft <= most && now.hard <= most)) continue
    const soft = now.soft < most ? now.soft : most
    const hard = now.hard < most ? now.hard : most
    // It may be gone since, which is as good.
    if (setRlimit(pid, resource, { soft, hard })) wasHigher = true
  }
  return wasHigher
}
