import { CallError } from "../../client/client-error.ts"
import type { WorkState } from "./files/work-state.ts"
import type { GitGround } from "./places/git-ground.ts"
import type { Change, Snapshot } from "./places/ground.ts"
import type { PlainGround, PlainSnapshot } from "./places/plain-ground.ts"
import type { RunnerFolder } from "./places/runner-folder.ts"
import { openTaskBranch, type TaskBranch } from "./places/task-branch.ts"
import type { TrialResult } from "./trial/run-trial.ts"
import { type Workspace, workFiles } from "./workspace.ts"
import type { World } from "./world.ts"

/** Where what one task has done is kept, so that the next one finds it. */
export interface TaskGround {
  /** The branch; null without git, where it is kept in the directory itself. */
  readonly branch: string | null
  /** What the next task begins with. It can be used as long as `folder` is there. */
  base(folder: RunnerFolder): Promise<Snapshot>
  /** What stands in a place after its act, to be given to `announceEnd`. */
  written(place: string): Promise<string | null>
  /** Remembers it before the verdict: who is killed then, loses nothing. */
  announceEnd(trial: string, written: string | null, message: string): Promise<void>
  keep(result: TrialResult, place: string, changes: readonly Change[]): Promise<void>
  /** After a verdict that is not a success. */
  forget(trial: string): Promise<void>
}

export async function openTaskGround(
  world: World,
  workspace: Workspace,
  state: WorkState,
): Promise<TaskGround> {
  const { ground } = workspace
  if (ground.kind === "plain") return plainTasks(workspace, ground, state)
  return gitTasks(world, workspace, ground, state)
}

function plainTasks(workspace: Workspace, ground: PlainGround, state: WorkState): TaskGround {
  let last: PlainSnapshot | null = null
  return {
    branch: null,
    async base(folder) {
      const now = await ground.snapshot(workFiles(workspace, state), folder)
      last = now
      return now
    },
    written: async () => null,
    announceEnd: async () => undefined,
    async keep(_, place, changes) {
      if (last !== null) ground.takeOver(place, changes, last)
    },
    forget: async () => undefined,
  }
}

async function gitTasks(
  world: World,
  workspace: Workspace,
  ground: GitGround,
  state: WorkState,
): Promise<TaskGround> {
  const { git } = ground
  const { folder } = workspace
  const { environment } = world
  const open = async (): Promise<TaskBranch> => {
    const now = await ground.snapshot(workFiles(workspace, state), folder)
    return openTaskBranch(ground, state.name, now, folder, environment)
  }
  let branch = await open()
  const pending = (trial: string) => `refs/cc-executor/pending/${trial}`
  if (await takeUpPending(world, git, branch)) branch = await open()
  return {
    branch: branch.name,
    base: async () => branch.base,
    written: (place) => branch.base.writtenIn(place),
    async announceEnd(trial, written, message) {
      if (written === null) return
      await git(["update-ref", pending(trial), await branch.commitObject(written, message)])
    },
    async keep({ trial }) {
      const ref = pending(trial.announcement.trial)
      branch = await branch.advance((await git(["rev-parse", ref])).trim())
      await git(["update-ref", "-d", ref])
    },
    async forget(trial) {
      await git(["update-ref", "-d", pending(trial)])
    },
  }
}

/** Of a runner that was killed between the verdict and its commit. */
async function takeUpPending(
  { client }: World,
  git: GitGround["git"],
  branch: TaskBranch,
): Promise<boolean> {
  const format = "--format=%(refname) %(objectname) %(objectname:short)"
  const listed = await git(["for-each-ref", format, "refs/cc-executor/pending/"])
  let hasAdvanced = false
  for (const line of listed.split("\n").filter((one) => one !== "")) {
    const [ref = "", commit = ""] = line.split(" ")
    const verdict = await verdictOf(client, ref.split("/").at(-1) ?? "")
    if (verdict === "open") continue
    const [parent = ""] = (await git(["rev-parse", `${commit}^`])).trim().split("\n")
    if (verdict === "PASSED" && parent === branch.base.commit) {
      await branch.advance(commit)
      hasAdvanced = true
    }
    await git(["update-ref", "-d", ref])
  }
  return hasAdvanced
}

async function verdictOf(client: World["client"], trial: string): Promise<string> {
  try {
    const { verdict } = await client.call("trial.status", { trial })
    return verdict ?? "open"
  } catch (error) {
    const isUnknown = error instanceof CallError && error.failure.reason === "TRIAL_NOT_FOUND"
    if (!isUnknown) throw error
    return "unknown"
  }
}
