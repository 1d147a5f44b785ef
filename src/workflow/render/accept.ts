import { fail, ok, type Result } from "../../lib/result.ts"
import type { DocumentFault } from "../documents/fault.ts"
import { lineEndOf } from "../documents/lines.ts"
import type { Acceptance } from "../documents/task.ts"
import { acceptanceText } from "../documents/task-body.ts"
import { readTaskList } from "../documents/task-list.ts"
import { applyEdits } from "./edit.ts"
import { inline } from "./inline.ts"

/**
 * The text with a task accepted by a person, in the line below it. It is their word: it ticks no
 * box and counts as nothing, and a trial that passes takes its place.
 */
export function accept(
  text: string,
  id: string,
  { by, why }: Acceptance,
): Result<string, DocumentFault> {
  const list = readTaskList(text)
  if (!list.ok) return list
  const task = list.value.tasks.find((one) => one.id === id)
  if (task === undefined) return fail({ line: 1, reason: `there is no task ${id}` })
  const says = acceptanceText({ by: inline(by.replaceAll(":", " ")), why: inline(why) })
  const line = `${task.indent}_Verified:_ ${says}${lineEndOf(text)}`
  const removed = task.verified.map(({ start, end }) => ({ start, end, text: "" }))
  const at = task.insertAt
  const needsEnd = at === text.length && !text.endsWith("\n")
  const added = { start: at, end: at, text: needsEnd ? lineEndOf(text) + line.trimEnd() : line }
  return ok(applyEdits(text, [added, ...removed]))
}
