import { ok, type Result } from "../../lib/result.ts"
import { readWorkText, type WorkText } from "./document.ts"
import type { DocumentFault } from "./fault.ts"
import type { Task } from "./task.ts"

export type TaskList = WorkText & { kind: "tasks"; title: string | null; tasks: Task[] }

/** A box ticked by hand is only a claim: what is verified is in the ledger alone. */
export function readTaskList(text: string): Result<TaskList, DocumentFault> {
  const read = readWorkText(text)
  if (!read.ok) return read
  return ok({ ...read.value, kind: "tasks", title: null, tasks: [] })
}
