import type { Task } from "../documents/task.ts"
import type { TaskList } from "../documents/task-list.ts"

/** What an agent is told that is to do one task of a list. */
export function taskPrompt({ title: list }: TaskList, file: string, task: Task): string {
  const { id, text, checks } = task
  const named = list === null ? `the task list ${file}` : `the task list "${list}" (${file})`
  return [
    `Do the task ${id} of ${named}, and nothing else of it:`,
    "",
    text.trimEnd(),
    "",
    "When you have finished, these commands are run where you work, and must succeed:",
    "",
    ...checks.map(({ run }) => `    ${run}`),
    "",
    "They were seen to fail before you began. Do not change what they test with, nor the task",
    "list: a box is ticked by its own rules, not by you. Earlier tasks are done already.",
    "",
  ].join("\n")
}
