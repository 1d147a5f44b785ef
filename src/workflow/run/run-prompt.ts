import type { AttestedTrial } from "../../execution/trial/attestation.ts"
import { atOnce } from "./at-once.ts"
import { bringUpToDate, type WorkState } from "./files/work-state.ts"
import { type Improvement, type ImproveOptions, improvePrompt } from "./improve/improve-prompt.ts"
import { runOneTrial } from "./one-trial.ts"
import { type RunOptions, Spending } from "./run-options.ts"
import { WorkFailure } from "./work-failure.ts"
import { openWorkspace, type Workspace, workFiles } from "./workspace.ts"
import type { World } from "./world.ts"

export type PromptRunOptions = RunOptions & {
  trials: number
  jobs: number // one, where the prompt is to be improved
  /** Whether failures lead to another text, and who writes it; null for no. */
  improve: Pick<ImproveOptions, "improver"> | null
}

export type PromptRun = {
  readonly trials: readonly AttestedTrial[]
  readonly state: WorkState
  readonly costUsd: number
  readonly improvements: readonly Improvement[]
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
  const improvements: Improvement[] = []
  let left = options.trials
  const improveAfter = async (trial: AttestedTrial, signal: AbortSignal) => {
    if (trial.verdict !== "FAILED" || options.improve === null) return null
    const reason = whyStop(spending, signal)
    if (reason !== null) return reason
    const { sequence } = trial.announcement
    options.tell({ kind: "note", text: `after trial ${sequence}: an agent rewrites the text` })
    const asked = { ...options, ...options.improve, signal }
    const failed = { before: state, trial }
    const improvement = await improvePrompt(world, workspace, failed, asked, spending)
    improvements.push(improvement)
    options.tell({ kind: "note", text: improvementText(improvement) })
    return improvement.kind === "refused" ? "the improvement was refused" : null
  }
  await atOnce(Math.min(options.jobs, options.trials), options.signal, async (signal) => {
    while (left > 0 && stopped === null) {
      stopped = whyStop(spending, signal)
      if (stopped !== null) return
      left -= 1
      const trial = await tryOnce(world, workspace, state, { ...options, signal }, spending)
      trials.push(trial)
      if (options.improve !== null) stopped = await improveAfter(trial, signal)
    }
  })
  const last = await bringUpToDate(world, path, state)
  return { trials, state: last, costUsd: spending.spentUsd, improvements, stopped }
}

/** One trial of the prompt as its file is now. */
export async function tryOnce(
  world: World,
  workspace: Workspace,
  before: WorkState,
  options: RunOptions,
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

function improvementText(improvement: Improvement): string {
  const { after } = improvement
  if (improvement.kind === "refused") {
    return `after trial ${after}: the prompt stays as it is: ${improvement.reason}`
  }
  const { version, recovery } = improvement
  const test =
    recovery === null ? "is a recovery test already" : `is a recovery test now: ${recovery}`
  const text = `the text is rewritten (${version.slice(0, 8)})`
  return `after trial ${after}: ${text}, and the failure ${test}`
}

export function whyStop(spending: Spending, signal: AbortSignal): string | null {
  if (signal.aborted) return "it was interrupted"
  return spending.isOver ? "--max-cost is reached" : null
}

export function notAPrompt(path: string): WorkFailure {
  return new WorkFailure(
    `${path} is no prompt: \`tasks run\` is for task lists, \`review fix\` for lists of fixes, ` +
      "and `review run` for requests.",
  )
}

export function refuseWithoutChecks({ path, work }: WorkState): void {
  if (work.kind !== "prompt") throw notAPrompt(path)
  if (work.settings.checks.length > 0) return
  throw new WorkFailure(
    `${path} has no checks, so nothing could show whether a trial succeeds. ` +
      `Write \`checks:\` into its front matter; \`cc-executor adopt ${path}\` proposes some.`,
  )
}
