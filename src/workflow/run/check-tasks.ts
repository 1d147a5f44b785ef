import { type TaskListFaults, taskFaults } from "../plan/task-faults.ts"
import { readWorkFile } from "./files/read-work.ts"
import { WorkFailure } from "./work-failure.ts"

/** What a task list lacks, in words; nothing is run. */
export function checkTasks(path: string): TaskListFaults {
  const { work } = readWorkFile(path)
  if (work.kind === "tasks") return taskFaults(work)
  throw new WorkFailure(`${path} is no task list: for a prompt, use \`cc-executor prompt check\`.`)
}
