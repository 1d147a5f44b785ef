import type { ExecutionId } from "../execution/id.ts"
import type { ContainmentMode, ProcessIdentity, ResourceUse } from "../execution/record.ts"
import { unknownResourceUse } from "../execution/record.ts"
import { fail, ok, type Result } from "../execution/result.ts"
import type { ResourceLimits } from "../execution/spec.ts"
import type { ProcessTree } from "../keeper/ports.ts"
import { BestEffortTree } from "./best-effort-tree.ts"
import { type CgroupBase, hasRunOutOfMemory, makeCgroup, openCgroupBase } from "./cgroup-base.ts"
import { CgroupTree, removeEmptyCgroups } from "./cgroup-tree.ts"
import type { Forest } from "./forest.ts"

/** A place for one execution's processes, made before the first of them exists. */
export interface Enclosure {
  /** What Bun.spawn must start the leader in, if anything. */
  readonly cgroup: string | null
  enter(leader: ProcessIdentity): ProcessTree
  use(): ResourceUse
  hasRunOutOfMemory(): boolean
  remove(): void
}

/** How executions are held together on this machine. */
export interface Containment extends Disposable {
  readonly mode: ContainmentMode
  readonly enforceable: ReadonlySet<keyof ResourceLimits>
  /** Where the cgroups are; null in best-effort mode. */
  readonly cgroupBase: string | null
  /** Why it is not `cgroup`, for `doctor`. */
  readonly why: string | null
  enclose(id: ExecutionId, limits: ResourceLimits): Enclosure
}

export function chooseContainment(
  wanted: "auto" | ContainmentMode,
  instance: string,
  forest: Forest,
): Result<Containment, string> {
  if (wanted === "best-effort") return ok(bestEffort(forest, "it was asked for"))
  const base = openCgroupBase(instance)
  if (base.ok) return ok(byCgroup(base.value))
  if (wanted === "auto") return ok(bestEffort(forest, base.failure))
  return fail(`containment "cgroup" was asked for, but ${base.failure}`)
}

function byCgroup(base: CgroupBase): Containment {
  return {
    mode: "cgroup",
    enforceable: base.enforceable,
    cgroupBase: base.path,
    why: null,
    enclose(id, limits) {
      const path = makeCgroup(base, id, limits)
      const tree = new CgroupTree(path)
      return {
        cgroup: path,
        enter: (leader) => tree.ledBy(leader),
        use: () => tree.use(),
        hasRunOutOfMemory: () => hasRunOutOfMemory(path),
        remove: () => tree.remove(),
      }
    },
    // A survivor's cgroup, or the one we sit in ourselves, stays: the next start sweeps it.
    [Symbol.dispose]: () => void removeEmptyCgroups(base.path),
  }
}

function bestEffort(forest: Forest, why: string): Containment {
  return {
    mode: "best-effort",
    enforceable: new Set(),
    cgroupBase: null,
    why,
    enclose(id) {
      return {
        cgroup: null,
        enter(leader) {
          forest.plant(id, leader)
          return new BestEffortTree(id, forest)
        },
        use: () => unknownResourceUse,
        hasRunOutOfMemory: () => false,
        remove: () => forest.fell(id),
      }
    },
    [Symbol.dispose]() {},
  }
}
