import type { HandedContainment } from "../../../execution/handover.ts"
import type { ExecutionId } from "../../../execution/id.ts"
import {
  type ContainmentMode,
  type ProcessIdentity,
  type ResourceUse,
  unknownResourceUse,
} from "../../../execution/record.ts"
import type { LimitsHeldBy, ResourceLimits } from "../../../execution/spec.ts"
import { isErrno } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { ProcessTree } from "../../keeper/ports.ts"
import { rlimitHolders } from "../children/rlimits.ts"
import { SIGKILL, signalProcess } from "../signals.ts"
import { BestEffortTree } from "./best-effort-tree.ts"
import {
  type CgroupBase,
  cgroupOf,
  hasRunOutOfMemory,
  limitNames,
  makeCgroup,
  openCgroupBase,
} from "./cgroup-base.ts"
import { CgroupTree, removeEmptyCgroups } from "./cgroup-tree.ts"
import type { Forest } from "./forest.ts"

/** Contains one execution's processes; made before the first of them exists. */
export interface Enclosure {
  /** What Bun.spawn must start the leader in, if anything. */
  readonly cgroup: string | null
  enter(leader: ProcessIdentity): ProcessTree
  /** Its members as of this very moment. */
  membersNow(): ProcessIdentity[]
  use(): ResourceUse
  hasRunOutOfMemory(): boolean
  remove(): void
}

export interface Containment extends Disposable {
  readonly mode: ContainmentMode
  /** What can hold an execution to each limit; null for what nothing can. */
  readonly holders: LimitsHeldBy
  /** Where the cgroups are; null in best-effort mode. */
  readonly cgroupBase: string | null
  /** Why it is not `cgroup`, for `doctor`. */
  readonly why: string | null
  enclose(id: ExecutionId, limits: ResourceLimits): Enclosure
  /** The enclosure of one whose processes are there already, with those whom a thaw has to wake. */
  reenter(id: ExecutionId, frozen: readonly ProcessIdentity[]): Enclosure
}

export function chooseContainment(
  wanted: "auto" | ContainmentMode,
  instance: string,
  forest: Forest,
  childrenUid: number,
): Result<Containment, string> {
  const rlimits = rlimitHolders(childrenUid)
  if (wanted === "best-effort") return ok(bestEffort(forest, "it was asked for", rlimits))
  const base = openCgroupBase(instance)
  if (base.ok) return ok(byCgroup(base.value, cgroupHolders(base.value, rlimits)))
  if (wanted === "auto") return ok(bestEffort(forest, base.failure, rlimits))
  return fail(`containment "cgroup" was requested, but ${base.failure}`)
}

/** A cgroup holds better: it counts the tree, and nobody who is not root gets out of it. */
export function cgroupHolders({ enforceable }: CgroupBase, rlimits: LimitsHeldBy): LimitsHeldBy {
  return {
    memoryBytes: enforceable.has("memoryBytes") ? "cgroup" : rlimits.memoryBytes,
    cpus: enforceable.has("cpus") ? "cgroup" : rlimits.cpus,
    pids: enforceable.has("pids") ? "cgroup" : rlimits.pids,
  }
}

/**
 * The same as the program before this one had, for the same executions; but those that start from
 * now on may run as another user.
 */
export function resumeContainment(
  handed: HandedContainment,
  forest: Forest,
  childrenUid: number,
): Containment {
  const { mode, cgroupBase, why } = handed
  const rlimits = rlimitHolders(childrenUid)
  const holders = { ...handed.holders }
  for (const name of limitNames) if (holders[name] !== "cgroup") holders[name] = rlimits[name]
  if (mode === "best-effort" || cgroupBase === null) return bestEffort(forest, why ?? "", holders)
  const enforceable = new Set(limitNames.filter((name) => holders[name] === "cgroup"))
  return byCgroup({ path: cgroupBase, enforceable }, holders)
}

function byCgroup(base: CgroupBase, holders: LimitsHeldBy): Containment {
  return {
    mode: "cgroup",
    holders,
    cgroupBase: base.path,
    why: null,
    enclose: (id, limits) => cgroupEnclosure(makeCgroup(base, id, limits)),
    reenter: (id) => cgroupEnclosure(cgroupOf(base, id)),
    // A survivor's cgroup, or the one we sit in ourselves, stays: the next start sweeps it.
    [Symbol.dispose]: () => void removeEmptyCgroups(base.path),
  }
}

function cgroupEnclosure(path: string): Enclosure {
  const tree = new CgroupTree(path)
  return {
    cgroup: path,
    enter: (leader) => tree.ledBy(leader),
    membersNow: () => tree.members(),
    use: () => tree.use(),
    hasRunOutOfMemory: () => hasRunOutOfMemory(path),
    remove: () => tree.remove(),
  }
}

function bestEffort(forest: Forest, why: string, holders: LimitsHeldBy): Containment {
  const enclosure = (id: ExecutionId, enter: Enclosure["enter"]): Enclosure => ({
    cgroup: null,
    enter,
    membersNow: () => forest.membersNow(id),
    use: () => unknownResourceUse,
    hasRunOutOfMemory: () => false,
    remove: () => forest.remove(id),
  })
  return {
    mode: "best-effort",
    holders,
    cgroupBase: null,
    why,
    enclose: (id) =>
      enclosure(id, (leader) => {
        forest.add(id, leader)
        return new BestEffortTree(id, forest)
      }),
    // The forest was handed over with all its trees.
    reenter: (id, frozen) => enclosure(id, () => new BestEffortTree(id, forest, frozen)),
    [Symbol.dispose]() {},
  }
}

/** What forks faster than it is killed for so long is left to its containment. */
const mostLooks = 100

/** Who was killed starts nobody any more: it is over when a look finds only those. */
export function endAtOnce(leader: number, enclosure: Enclosure): void {
  signalGroup(leader, "SIGKILL")
  const killed = new Set<number>()
  for (let look = 0; look < mostLooks; look++) {
    const found = enclosure.membersNow().filter(({ pid }) => !killed.has(pid))
    if (found.length === 0) return
    for (const member of found) {
      signalProcess(member, SIGKILL)
      killed.add(member.pid)
    }
  }
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal)
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error // gone already
  }
}
