import type { ProcessIdentity } from "../execution/record.ts"
import type { LimitsHeldBy, ResourceLimits } from "../execution/spec.ts"
import { getRlimit, RLIMIT_DATA, RLIMIT_NPROC, setRlimit } from "./libc.ts"
import { isSameProcess } from "./proc.ts"

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
  lower(leader, wanted)
  using _still = tree.standStill()
  for (let look = 0; look < mostLooks; look++) {
    const lowered = tree.membersNow().flatMap((member) => lower(member, wanted))
    if (lowered.length === 0) return
  }
  throw new Error(`pid ${leader.pid} started processes faster than limits could be set`)
}

/**
 * Holds those that are found without a limit to it now: they were started faster than anybody
 * looked, or may raise it. Answers which limits somebody was without.
 */
export function holdAgain(
  members: () => ProcessIdentity[],
  limits: ResourceLimits,
  heldBy: LimitsHeldBy,
): Set<keyof LimitsHeldBy> {
  const wanted = wantedRlimits(limits, heldBy)
  return new Set(wanted.length === 0 ? [] : members().flatMap((member) => lower(member, wanted)))
}

type LimitedTree = { membersNow(): ProcessIdentity[]; standStill(): Disposable }
type Rlimit = { limit: keyof LimitsHeldBy; resource: number; most: bigint }

function wantedRlimits(limits: ResourceLimits, heldBy: LimitsHeldBy): Rlimit[] {
  const wanted: Rlimit[] = []
  const { memoryBytes, pids } = limits
  // Not the address space: runtimes reserve far more of that than they will ever use.
  if (memoryBytes !== null && heldBy.memoryBytes === "rlimit") {
    wanted.push({ limit: "memoryBytes", resource: RLIMIT_DATA, most: BigInt(memoryBytes) })
  }
  if (pids !== null && heldBy.pids === "rlimit") {
    wanted.push({ limit: "pids", resource: RLIMIT_NPROC, most: BigInt(pids) })
  }
  return wanted
}

/** Answers which of them were higher before. Never raises what is lower. */
function lower(member: ProcessIdentity, wanted: Rlimit[]): Array<keyof LimitsHeldBy> {
  const lowered: Array<keyof LimitsHeldBy> = []
  for (const { limit, resource, most } of wanted) {
    const now = getRlimit(member.pid, resource)
    if (now === null || (now.soft <= most && now.hard <= most)) continue
    // Its number may mean somebody else by now, who would not get the limit off again.
    if (!isSameProcess(member)) continue
    const soft = now.soft < most ? now.soft : most
    const hard = now.hard < most ? now.hard : most
    // It may be gone since, which is as good.
    if (setRlimit(member.pid, resource, { soft, hard })) lowered.push(limit)
  }
  return lowered
}
