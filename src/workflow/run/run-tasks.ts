import type { AttestedTrial } from "../../execution/trial/attestation.ts"
import type { Task } from "../documents/task.ts"
import type { TaskList } from "../documents/task-list.ts"
import { type TaskState, taskState } from "../ledger/task-state.ts"
import { taskPrompt } from "../plan/act-prompt.ts"
import { bringUpToDate, type WorkState } from "./files/work-state.ts"
import { type Keeping, runKeptTrial } from "./kept-trial.ts"
import { lockRunOf } from "./one-runner.ts"
import { type RunOptions, Spending } from "./run-options.ts"
import { openTaskGround } from "./task-ground.ts"
import { WorkFailure } from "./work-failure.ts"
import { openWorkspace, workFiles } from "./workspace.ts"
import type { World } from "./world.ts"

export type TaskRunOptions = RunOptions & {
  /** Only this one, whatever its state. */
  task: string | null
  keepGoing: boolean
}

export type TaskRun = {
  readonly trials: readonly AttestedTrial[]
  readonly state: WorkState
  readonly branch: string | null
  readonly costUsd: number
  /** What is not done, and why, in words. */
  readonly missing: readonly string[]
}

/** Does the tasks of a list in their order, each on what those before it have done. */
export async function runTasks(
  world: World,
  path: string,
  options: TaskRunOptions,
): Promise<TaskRun> {
  let state = await bringUpToDate(world, path)
  using _alone = lockRunOf(world, state.path)
  state = await bringUpToDate(world, path, state)
  const wanted = wantedTasks(state, options.task)
  const spending = new Spending(options.maxCostUsd)
  const trials: AttestedTrial[] = []
  await using workspace = await openWorkspace(world, state)
  const ground = await openTaskGround(world, workspace, state)
  let stopped: string | null = null
  for (const id of wanted) {
    const task = listOf(state).tasks.find((one) => one.id === id)
    if (task === undefined || task.checks.length === 0) continue
    const reason = options.signal.aborted ? "it was interrupted" : null
    stopped = reason ?? (spending.isOver ? "--max-cost is reached" : null)
    if (stopped !== null) break
    const trial = await runTask({ world, workspace, ground, state, options, spending }, task)
    trials.push(trial)
    state = await bringUpToDate(world, path, state)
    const goesOn = trial.verdict === "PASSED" || trial.verdict === "WARNED" || options.keepGoing
    if (goesOn) continue
    stopped = `${id} has not passed`
    break
  }
  const missing = missingIn(state, wanted, stopped)
  return { trials, state, branch: ground.branch, costUsd: spending.spentUsd, missing }
}

type Running = Keeping & { state: WorkState }

function runTask(running: Running, task: Task): Promise<AttestedTrial> {
  const { workspace, state } = running
  const list = listOf(state)
  const { guards, setup, needs } = list.settings
  const { file } = workFiles(workspace, state)
  const asked = {
    state,
    version: task.version,
    item: task.id,
    aim: { checks: task.checks, guards, setup, needs, recovery: [] },
    prompt: taskPrompt(list, file, task),
  }
  return runKeptTrial(running, asked, `${task.id}: ${task.title}`)
}

export function listOf({ path, work }: WorkState): TaskList {
  if (work.kind === "tasks") return work
  throw new WorkFailure(
    `${path} has no tasks, such as \`- [ ] **T01 – Title**\`: \`prompt run\` is for prompts, ` +
      "`review fix` for lists of fixes, and `review run` for requests.",
  )
}

function wantedTasks(state: WorkState, only: string | null): string[] {
  const { tasks } = listOf(state)
  if (only === null) {
    const open = tasks.filter((task) => !isDone(taskState(task, state.summary)))
    return open.map(({ id }) => id)
  }
  const task = tasks.find(({ id }) => id === only)
  if (task === undefined) {
    const ids = tasks.map(({ id }) => id).join(", ")
    throw new WorkFailure(`${state.path} has no task ${only}: it has ${ids}.`)
  }
  if (task.checks.length > 0) return [only]
  throw new WorkFailure(
    `The task ${only} has no check, so nothing could show that it is done. Write a line ` +
      `"Check: \`COMMAND\`" below it, or accept it: cc-executor tasks accept FILE ${only} --why …`,
  )
}

export function isDone({ kind }: TaskState): boolean {
  return kind === "verified" || kind === "accepted"
}

function missingIn(state: WorkState, wanted: readonly string[], stopped: string | null): string[] {
  const { tasks } = listOf(state)
  const open = tasks
    .filter(({ id }) => wanted.includes(id))
    .flatMap((task) => {
      const now = taskState(task, state.summary)
      return isDone(now) ? [] : [`${task.id} ${whyOpen(task, now)}`]
    })
  return stopped === null ? open : [...open, `stopped: ${stopped}`]
}

/** To be read after the id of the task. */
export function whyOpen({ checks }: Task, state: TaskState): string {
  switch (state.kind) {
    case "verified":
    case "accepted":
      return "is done"
    case "failed":
    case "warned":
      return `${state.trial.verdict}: ${state.trial.reasons.join("; ")}`
    case "outdated":
      return "was verified with another text or check: run it again"
    case "under-way":
      return `is under way: trial ${state.sequence}`
    case "unattested":
    case "open": {
      const ticked = state.kind === "unattested" ? "is ticked, but nothing attests that" : "is open"
      return checks.length === 0 ? `${ticked}; it has no check` : ticked
    }
  }
}
