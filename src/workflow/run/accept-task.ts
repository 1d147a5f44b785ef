import { CallError } from "../../client/client-error.ts"
import { lineEndOf } from "../documents/lines.ts"
import type { Task } from "../documents/task.ts"
import { acceptanceText } from "../documents/task-body.ts"
import { taskState } from "../ledger/task-state.ts"
import { readWorkFile } from "./files/read-work.ts"
import { lockWork } from "./files/work-lock.ts"
import { bringUpToDate, type WorkState } from "./files/work-state.ts"
import { replaceText } from "./files/write-text.ts"
import { listOf } from "./run-tasks.ts"
import { WorkFailure } from "./work-failure.ts"
import type { World } from "./world.ts"

export type Accepting = { task: string; by: string; why: string }

/** Writes that a person has accepted a task. Nothing is attested by that, and nothing counts. */
export async function acceptTask(
  world: World,
  path: string,
  accepting: Accepting,
): Promise<WorkState> {
  await refuseWithinTrial(world)
  const state = await bringUpToDate(world, path)
  const task = taskOf(state, accepting.task)
  if (taskState(task, state.summary).kind === "verified") {
    throw new WorkFailure(`The task ${accepting.task} is verified already.`)
  }
  await lockWork(state.path, async () => {
    for (;;) {
      const read = readWorkFile(state.path)
      const now = read.work.kind === "tasks" ? read.work.tasks : []
      const found = now.find(({ id }) => id === accepting.task)
      if (found === undefined) throw noTask(state, accepting.task)
      const text = Buffer.from(withAcceptance(read.text, found, accepting))
      if (replaceText(read.path, read.bytes, text)) return
    }
  })
  return await bringUpToDate(world, path)
}

/** An id that no trial has: only whether it may be asked for is of interest. */
const noTrial = "a".repeat(26)

/** Who may not announce a trial because it is part of one must not accept its own work, either. */
async function refuseWithinTrial({ client }: World): Promise<void> {
  try {
    await client.call("trial.end", { trial: noTrial })
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    if (error.failure.reason !== "TRIAL_NOT_FOUND") throw error
  }
}

function taskOf(state: WorkState, id: string): Task {
  const task = listOf(state).tasks.find((one) => one.id === id)
  if (task === undefined) throw noTask(state, id)
  return task
}

function noTask(state: WorkState, id: string): WorkFailure {
  const ids = listOf(state).tasks.map((task) => task.id)
  return new WorkFailure(`${state.path} has no task ${id}: it has ${ids.join(", ")}.`)
}

function withAcceptance(text: string, task: Task, { by, why }: Accepting): string {
  const line = `${task.indent}_Verified:_ ${acceptanceText({ by, why })}${lineEndOf(text)}`
  let [before, after] = [text.slice(0, task.insertAt), text.slice(task.insertAt)]
  if (!before.endsWith("\n")) before += lineEndOf(text)
  // What stands there of ours is said anew.
  for (const { start, end } of task.verified.toReversed()) {
    if (start < task.insertAt) before = before.slice(0, start) + before.slice(end)
    else after = after.slice(0, start - task.insertAt) + after.slice(end - task.insertAt)
  }
  return before + line + after
}
