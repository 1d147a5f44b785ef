import type { ExecutionRecord } from "../execution/record.ts"

/** An answer that is not there yet: an execution, which goes on and is asked for by its id. */
export type TaskCreated = { kind: "task"; record: ExecutionRecord }

/** Its value says how much of the output the task's result may show, in bytes. */
export const taskLabel = "mcp-task"
