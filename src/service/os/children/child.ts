import type { ProcessIdentity } from "../../../execution/record.ts"
import type { Exit } from "../../../execution/state.ts"
import type { Child } from "../../keeper/ports.ts"
import type { Enclosure } from "../trees/containment.ts"
import type { Stdio } from "./stdio.ts"

export type CpuUse = { cpuUserMs: number; cpuSystemMs: number }

export type LeadersEnd = {
  exited: Promise<Exit>
  /** Of the leader and the descendants it waited for; null until it has exited. */
  cpu: () => CpuUse | null
  hasBeenWaitedFor: () => boolean
}

/** A child, whoever started it, with its tree, its pipes and what it uses. */
export function childOf(
  leader: ProcessIdentity,
  tree: ReturnType<Enclosure["enter"]>,
  enclosure: Enclosure,
  stdio: Stdio,
  { exited, cpu, hasBeenWaitedFor }: LeadersEnd,
): Child {
  return {
    leader,
    exited,
    outputs: stdio.outputs,
    input: stdio.input,
    status: stdio.status,
    tree,
    resize: stdio.resize,
    use() {
      const use = enclosure.use()
      const leaders = use.cpuUserMs === null ? cpu() : null // all that is known without a cgroup
      if (leaders === null) return use
      return { ...use, cpuUserMs: leaders.cpuUserMs, cpuSystemMs: leaders.cpuSystemMs }
    },
    ranOutOfMemory: () => enclosure.hasRunOutOfMemory(),
    hasBeenWaitedFor,
    handOver: () => ({ leader, ...stdio.handOver(), frozen: tree.frozen() }),
    [Symbol.dispose]() {
      stdio.close()
      enclosure.remove()
    },
  }
}
