import type { HandedChild } from "../../../execution/handover.ts"
import type { ExecutionId } from "../../../execution/id.ts"
import type { Exit } from "../../../execution/state.ts"
import type { AdoptedFacts, Child } from "../../keeper/ports.ts"
import type { Waited } from "../libc.ts"
import type { Reaper } from "../reaper.ts"
import { signalName } from "../signals.ts"
import type { Containment } from "../trees/containment.ts"
import { childOf } from "./child.ts"
import { masterStdio, pipeStdio } from "./stdio.ts"

/**
 * A child that the program before this one had started in the same process. It is a child of this
 * process all the same, but none of Bun's: its end is waited for by its pid.
 */
export function adoptChild(
  id: ExecutionId,
  handed: HandedChild,
  { terminal, exit }: AdoptedFacts,
  { containment, reaper }: { containment: Containment; reaper: Reaper },
): Child {
  const { leader } = handed
  const enclosure = containment.reenter(id, handed.frozen)
  const tree = enclosure.enter(leader)
  const stdio = terminal === null ? pipeStdio(handed, "when read") : masterStdio(handed)
  let waited: Waited | null = null
  const exited =
    exit === null
      ? reaper.adopt(leader.pid).then((how) => {
          waited = how
          return exitOf(how.status)
        })
      : Promise.resolve(exit)
  return childOf(leader, tree, enclosure, stdio, {
    exited,
    cpu: () => waited,
    hasBeenWaitedFor: () => exit !== null || waited !== null,
  })
}

/** As in wait(2): the signal in the low seven bits, else the exit code in the next eight. */
function exitOf(status: number): Exit {
  const signal = status & 0x7f
  return signal === 0
    ? { kind: "exited", exitCode: (status >> 8) & 0xff }
    : { kind: "signaled", signal: signalName(signal) }
}
