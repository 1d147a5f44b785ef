import type { AttestedTrial } from "../../execution/trial/attestation.ts"
import { atOnce } from "./at-once.ts"
import { bringUpToDate, type WorkState } from "./files/work-state.ts"
import { runOneTrial } from "./one-trial.ts"
import { type RunOptions, Spending } from "./run-options.ts"
import { WorkFailure } from "./work-failure.ts"
import { openWorkspace, type Workspace, workFiles } from "./workspace.ts"
import type { World } from "./world.ts"

export type PromptRunOptions = RunOptions & { trials: number; jobs: number }

export type PromptRun = {
  readonly trials: readonly AttestedTrial[]
  readonly state: WorkState
  readonly costUsd: number
  /** Why there were fewer trials than asked for; null where there were not. */
  readonly stopped: string | null
}

/** Tries a prompt: every trial in a place of its own, of which nothing is kept but the verdict. */
export async function runPrompt(
  world: World,
  path: string,
  options: PromptRunOptions,
): Promise<PromptRun> {
  const state = await bringUpToDate(world, path)
  refuseWithoutChecks(state)
  await using workspace = await openWorkspace(world, state)
  const spending = new Spending(options.maxCostUsd)
  const trials: AttestedTrial[] = []
  let stopped: string | null = null
  let left = options.trials
  await atOnce(Math.min(options.jobs, options.trials), options.signal, async (signal) => {
    while (left > 0 && stopped === null) {
      stopped = whyStop(spending, signal)
      if (stopped !== null) return
      left -= 1
      trials.push(await tryOnce(world, workspace, state, { ...options, signal }, spending))
    }
  })
  const last = await bringUpToDate(world, path, state)
  return { trials, state: last, costUsd: spending.spentUsd, stopped }
}

async function tryOnce(
  world: World,
  workspace: Workspace,
  before: WorkState,
  options: PromptRunOptions,
  spending: Spending,
): Promise<AttestedTrial> {
  const state = await bringUpToDate(world, before.path, before)
  refuseWithoutChecks(state)
  const { work } = state
  if (work.kind !== "prompt") throw notAPrompt(state.path)
  await using folder = workspace.folder.part()
  const snapshot = await workspace.ground.snapshot(workFiles(workspace, state), folder)
  const asked = { state, aim: work.settings, snapshot, version: work.version, item: null }
  const prompt = work.body
  const within = { ...workspace, folder }
  const { trial } = await runOneTrial(world, within, { ...asked, prompt }, options, spending)
  await bringUpToDate(world, state.path, state)
  return trial
}

function whyStop(spending: Spending, signal: AbortSignal): string | null {
  if (signal.aborted) return "it was interrupted"
  return spending.isOver ? "--max-cost is reached" : null
}

export function notAPrompt(path: string): WorkFailure {
  return new WorkFailure(
    `${path} is no prompt: \`tasks run\` is for task lists, \`review fix\` for lists of fixes, ` +
      "and `review run` for requests.",
  )
}

function refuseWithoutChecks({ path, work }: WorkState): void {
  if (work.kind !== "prompt") throw notAPrompt(path)
  if (work.settings.checks.length > 0) return
  throw new WorkFailure(
    `${path} has no checks, so nothing could show whether a trial succeeds. ` +
      `Write \`checks:\` into its front matter; \`cc-executor adopt ${path}\` proposes some.`,
  )
}
