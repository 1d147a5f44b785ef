import type { Config } from "../../../config/config.ts"
import type { HandedContainment } from "../../../execution/handover.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { adoptChild } from "../../os/children/adopted-child.ts"
import { spawnChild } from "../../os/children/spawner.ts"
import { ownDescriptorCount } from "../../os/descriptors.ts"
import { leaveNoCoreFiles } from "../../os/libc.ts"
import { Reaper } from "../../os/reaper.ts"
import { instanceOf } from "../../os/trees/cgroup-base.ts"
import {
  type Containment,
  chooseContainment,
  endAtOnce,
  resumeContainment,
} from "../../os/trees/containment.ts"
import { Forest } from "../../os/trees/forest.ts"
import type { Descriptors, Spawner } from "../ports.ts"
import type { ServiceStorage } from "./open-storage.ts"
import { limitNotHeld } from "./settings.ts"

/** How this machine runs children and holds them together. */
export type ProcessControl = {
  reaper: Reaper
  forest: Forest
  containment: Containment
  spawner: Spawner
  descriptors: Descriptors
}

/** Finds out what the machine offers; or says why that is not enough for what was asked. */
export function openProcessControl(
  config: Config,
  { state, policy }: Pick<ServiceStorage, "state" | "policy">,
  owner: AsyncDisposableStack,
  handed: HandedContainment | null,
): Result<ProcessControl, string> {
  leaveNoCoreFiles()
  const descriptors = ownDescriptorCount()
  // A child's end can be learnt once only: until this program has taken over, by the one before it.
  const reaper = owner.use(new Reaper(handed === null ? "at once" : "when told"))
  const forest = new Forest(reaper.isOwnChild, handed?.forest)
  if (handed !== null && !["auto", handed.mode].includes(config.containment)) {
    return fail(otherContainment(handed.mode, config.containment))
  }
  const instance = instanceOf(state.path)
  const childrenUid = policy.rules().user?.uid ?? process.getuid?.() ?? 0
  const chosen =
    handed === null
      ? chooseContainment(config.containment, instance, forest, childrenUid)
      : ok(resumeContainment(handed, forest, childrenUid))
  if (!chosen.ok) return fail(`${chosen.failure}.`)
  const containment = owner.use(chosen.value)
  const unheld = limitNotHeld(config, containment)
  if (unheld !== null) return fail(unheld)
  const spawner: Spawner = {
    containment: containment.mode,
    spawn: (launch) => spawnChild(launch, containment, reaper),
    adopt: (id, child, known) => adoptChild(id, child, known, { containment, reaper }),
    endUnadopted: (id, { leader, frozen }) =>
      endAtOnce(leader.pid, containment.reenter(id, frozen)),
  }
  return ok({ reaper, forest, containment, spawner, descriptors })
}

/** Executions stay where they are, and so do those that start later: one mode for all. */
function otherContainment(has: string, wanted: string): string {
  return (
    `Its executions are contained by ${has}, which --containment ${wanted} cannot change while ` +
    "the service runs: leave it out, or stop the service and start it again."
  )
}
