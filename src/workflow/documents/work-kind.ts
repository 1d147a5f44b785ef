import { ok, type Result } from "../../lib/result.ts"
import type { DocumentFault } from "./fault.ts"
import { type Prompt, readPrompt } from "./prompt.ts"
import { readTaskList, type TaskList } from "./task-list.ts"

export type Work = Prompt | TaskList

/** A file with tasks is a list of them; anything else is a prompt. */
export function readWork(text: string): Result<Work, DocumentFault> {
  const list = readTaskList(text)
  if (!list.ok) return list
  return list.value.tasks.length > 0 ? ok(list.value) : readPrompt(text)
}
