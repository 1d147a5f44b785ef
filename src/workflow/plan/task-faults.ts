import type { TaskList } from "../documents/task-list.ts"
import { whyWeak } from "./weak-check.ts"

export type TaskListFaults = {
  /** What keeps tasks from being shown done, in words. */
  faults: string[]
  /** What a person should know: no fault. */
  notes: string[]
}

/** What a task list lacks to be worked off; nothing is run. */
export function taskFaults({ tasks }: TaskList): TaskListFaults {
  const faults: string[] = []
  const notes: string[] = []
  if (tasks.length === 0) faults.push("it has no tasks, such as `- [ ] **T01 – Title**`")
  if (tasks.length > 0 && tasks.every(({ checks }) => checks.length === 0)) {
    faults.push("no task has a check, so nothing can show that anything is done")
  }
  const parents = new Set(tasks.map(({ parent }) => parent))
  for (const { id, title, line, checks, unclear, verification } of tasks) {
    if (title === "") faults.push(`line ${line}: ${id} has no title`)
    for (const note of unclear) {
      faults.push(
        `line ${note.line}: this is not run, since more than a command stands there: ${note.text}`,
      )
    }
    for (const check of checks) {
      const why = whyWeak(check.run)
      if (why !== null) faults.push(`line ${check.line}: \`${check.run}\` shows nothing: ${why}`)
    }
    if (checks.length > 0 || parents.has(id)) continue
    const prose = verification === null ? "" : `, and line ${verification.line} is prose`
    notes.push(`${id} has no check${prose}: a person has to accept it`)
  }
  return { faults, notes }
}
