import type { Result } from "../../lib/result.ts"
import type { DocumentFault } from "./fault.ts"
import { type Prompt, readPrompt } from "./prompt.ts"
import { type FixList, readFixList } from "./review/fix-list.ts"
import { type ReviewRequest, readReviewRequest } from "./review/request.ts"
import { readTaskList, type TaskList } from "./task-list.ts"

export type Work = Prompt | TaskList | FixList | ReviewRequest

/** A list has tasks, and nothing that only a prompt has. What is no Markdown has fixes. */
export function readWork(text: string): Result<Work, DocumentFault> {
  if (/^\uFEFF?\s*[{[]/.test(text)) return readFixList(text)
  const prompt = readPrompt(text)
  if (!prompt.ok) return prompt
  const request = readReviewRequest(prompt.value)
  if (request !== null) return request
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
