import type { ExecutionRecord } from "../../../../execution/record.ts"

/** An answer that is not there yet: an execution, which goes on and is asked for by its id. */
export type TaskCreated = { kind: "task"; record: ExecutionRecord; mostBytes: number }

/** The execution, and how much of its output the task's result may show. */
export function taskIdOf({ record, mostBytes }: Pick<TaskCreated, "record" | "mostBytes">): string {
  return `${record.id}.${mostBytes}`
}

/** Null for what never was the id of a task. */
export function readTaskId(taskId: string): { executionId: string; mostBytes: number } | null {
  const [, executionId, mostBytes] = /^([a-z2-7]{26})\.(\d{3,6})$/.exec(taskId) ?? []
  if (executionId === undefined) return null
  return { executionId, mostBytes: Number(mostBytes) }
}
