import { createHash } from "node:crypto"
import type { Config } from "../../../config/config.ts"
import type { HandedContainment } from "../../../execution/handover.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { adoptChild } from "../../os/children/adopted-child.ts"
import { spawnChild } from "../../os/children/spawner.ts"
import { leaveNoCoreFiles } from "../../os/libc.ts"
import { Reaper } from "../../os/reaper.ts"
import {
  type Containment,
  chooseContainment,
  resumeContainment,
} from "../../os/trees/containment.ts"
import { Forest } from "../../os/trees/forest.ts"
import type { Spawner } from "../ports.ts"
import type { ServiceStorage } from "./open-storage.ts"
import { limitNotHeld } from "./settings.ts"

/** How this machine runs children and holds them together. */
export type ProcessControl = {
  reaper: Reaper
  forest: Forest
  containment: Containment
  spawner: Spawner
}

/** Finds out what the machine offers; or says why that is not enough for what was asked. */
export function openProcessControl(
  config: Config,
  { state, policy }: Pick<ServiceStorage, "state" | "policy">,
  owner: AsyncDisposableStack,
  handed: HandedContainment | null,
): Result<ProcessControl, string> {
  leaveNoCoreFiles()
  const reaper = owner.use(new Reaper())
  const forest = new Forest(reaper.isOwnChild, handed?.forest)
  // Names what belongs to this service among others of the machine.
  const instance = createHash("sha256").update(state.path).digest("hex").slice(0, 12)
  const childrenUid = policy.rules().user?.uid ?? process.getuid?.() ?? 0
  const chosen =
    handed === null
      ? chooseContainment(config.containment, instance, forest, childrenUid)
      : ok(resumeContainment(handed, forest))
  if (!chosen.ok) return fail(`${chosen.failure}.`)
  const containment = owner.use(chosen.value)
  const unheld = limitNotHeld(config, containment)
  if (unheld !== null) return fail(unheld)
  const spawner: Spawner = {
    containment: containment.mode,
    spawn: (launch) => spawnChild(launch, containment, reaper),
    adopt: (id, child, known) => adoptChild(id, child, known, { containment, reaper }),
  }
  return ok({ reaper, forest, containment, spawner })
}
