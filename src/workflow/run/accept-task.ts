import { faultText } from "../documents/fault.ts"
import type { Task } from "../documents/task.ts"
import { taskState } from "../ledger/task-state.ts"
import { accept } from "../render/accept.ts"
import { readWorkFile } from "./files/read-work.ts"
import { lockWork } from "./files/work-lock.ts"
import { bringUpToDate, type WorkState } from "./files/work-state.ts"
import { replaceText } from "./files/write-text.ts"
import { listOf } from "./run-tasks.ts"
import { refuseWithinTrial } from "./within-trial.ts"
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
      const accepted = accept(read.text, accepting.task, accepting)
      if (!accepted.ok) throw new WorkFailure(`${read.path}, ${faultText(accepted.failure)}.`)
      if (replaceText(read.path, read.bytes, Buffer.from(accepted.value))) return
    }
  })
  return bringUpToDate(world, path)
}

function taskOf(state: WorkState, id: string): Task {
  const task = listOf(state).tasks.find((one) => one.id === id)
  if (task !== undefined) return task
  const ids = listOf(state).tasks.map((one) => one.id)
  throw new WorkFailure(`${state.path} has no task ${id}: it has ${ids.join(", ")}.`)
}
