import type { AttestedTrial } from "../../execution/trial/attestation.ts"
import type { Task } from "../documents/task.ts"
import { taskState } from "../ledger/task-state.ts"
import { bringUpToDate } from "./files/work-state.ts"
import { runOneTrial } from "./one-trial.ts"
import { reverifyFixes } from "./review/reverify-fixes.ts"
import { type RunOptions, Spending } from "./run-options.ts"
import { listOf } from "./run-tasks.ts"
import { openTaskGround } from "./task-ground.ts"
import { openWorkspace } from "./workspace.ts"
import type { World } from "./world.ts"

/**
 * Runs the checks of all that is verified again, without an agent. Where a check must fail first is
 * an empty directory: what it failed in before is long changed.
 */
export async function rerunChecks(
  world: World,
  path: string,
  options: RunOptions,
): Promise<readonly AttestedTrial[]> {
  let state = await bringUpToDate(world, path)
  if (state.work.kind === "fixes") return (await reverifyFixes(world, path, options)).trials
  const list = listOf(state)
  const verified = list.tasks.filter((task) => taskState(task, state.summary).kind === "verified")
  await using workspace = await openWorkspace(world, state)
  const ground = await openTaskGround(world, workspace, state)
  const trials: AttestedTrial[] = []
  for (const task of verified) {
    if (options.signal.aborted) break
    const { setup, needs } = list.settings
    const aim = { checks: inEmptyDirectory(task), guards: [], setup, needs, recovery: [] }
    await using folder = workspace.folder.part()
    const asked = { state, aim, snapshot: await ground.base(folder), version: task.version }
    const trial = { ...asked, item: task.id, prompt: null }
    const result = await runOneTrial(
      world,
      { ...workspace, folder },
      trial,
      options,
      new Spending(null),
    )
    trials.push(result.trial)
    state = await bringUpToDate(world, path, state)
  }
  return trials
}

function inEmptyDirectory({ checks }: Task) {
  return checks.map(({ run }) => ({ run, red: "empty" as const, spoil: null }))
}
