import type { Result } from "../../lib/result.ts"
import type { DocumentFault } from "./fault.ts"
import { type Prompt, readPrompt } from "./prompt.ts"
import { readTaskList, type TaskList } from "./task-list.ts"

export type Work = Prompt | TaskList

/** A list has tasks, and nothing that only a prompt has. */
export function readWork(text: string): Result<Work, DocumentFault> {
  const prompt = readPrompt(text)
  if (!prompt.ok) return prompt
  const { dialect, settings, code } = prompt.value
  const isPrompt = settings.checks.length > 0 || settings.recovery.length > 0 || code !== null
  if (isPrompt || dialect !== "own") return prompt
  const list = readTaskList(text)
  return list.ok && list.value.tasks.length === 0 ? prompt : list
}

/** What its trials are announced as: its own name, or that of its file. */
export function nameOfWork({ settings }: Work, path: string): string {
  return settings.name ?? (path.split("/").at(-1) ?? path).replace(/\.md$/i, "")
}
