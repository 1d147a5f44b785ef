import type { AttestedTrial } from "../../execution/trial/attestation.ts"
import { runOneTrial, type TrialAsked } from "./one-trial.ts"
import type { RunOptions, Spending } from "./run-options.ts"
import type { TaskGround } from "./task-ground.ts"
import type { Workspace } from "./workspace.ts"
import type { World } from "./world.ts"

export type Keeping = {
  world: World
  workspace: Workspace
  ground: TaskGround
  options: RunOptions
  spending: Spending
}

/** A trial that begins with what those before it have done; if it passes, what it did is kept. */
export async function runKeptTrial(
  { world, workspace, ground, options, spending }: Keeping,
  asked: Omit<TrialAsked, "snapshot">,
  message: string,
): Promise<AttestedTrial> {
  await using folder = workspace.folder.part()
  const result = await runOneTrial(
    world,
    { ...workspace, folder },
    { ...asked, snapshot: await ground.base(folder) },
    options,
    spending,
    {
      afterAct: ({ act }) => ground.written(act.path),
      beforeEnd: (trial, written) => ground.announceEnd(trial, written, message),
    },
  )
  const { trial, prepared, changes } = result
  if (trial.verdict === "PASSED") await ground.keep(result, prepared.act.path, changes)
  else await ground.forget(trial.announcement.trial)
  return trial
}
