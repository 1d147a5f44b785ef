import { lineEndOf } from "../documents/lines.ts"
import type { Box, BoxMark, Task } from "../documents/task.ts"
import type { TaskList } from "../documents/task-list.ts"
import type { LedgerSummary } from "../ledger/summary.ts"
import { taskState } from "../ledger/task-state.ts"
import type { Edit } from "./edit.ts"
import { regionEdits } from "./region-edit.ts"
import { taskRendering } from "./verified-text.ts"

/** Of the boxes, of the lines below tasks, and of the region with what they come to. */
export function taskEdits(list: TaskList, summary: LedgerSummary): Edit[] {
  if (!isOurs(list, summary)) return []
  const ofTasks = list.tasks.flatMap((task) => {
    const { mark, says } = taskRendering(task, summary)
    return [...boxEdits(task.box, mark), ...lineEdits(list.text, task, says)]
  })
  return [...ofTasks, ...regionEdits(list, "tasks", () => overview(list, summary))]
}

/** Ticks in a list that nothing of ours is in are its owner's, whatever they are worth. */
function isOurs({ tasks, regions }: TaskList, { trials, open, damages }: LedgerSummary): boolean {
  const hasLine = tasks.some(({ verified }) => verified.length > 0)
  return hasLine || regions.length + trials.length + open.length + damages.length > 0
}

function boxEdits(box: Box | null, mark: BoxMark): Edit[] {
  if (box === null || isShown(box, mark)) return []
  return [{ start: box.start, end: box.end, text: marks[box.form][mark] }]
}

/** Brackets know no third state: the line below says what is under way. */
function isShown({ form, mark: shown }: Box, mark: BoxMark): boolean {
  if (form === "brackets") return (shown === "done") === (mark === "done")
  return shown === mark
}

const marks = {
  brackets: { open: " ", "under-way": " ", done: "x" },
  symbol: { open: "☐", "under-way": "◔", done: "✅" },
  status: { open: "☐ Not started", "under-way": "◔ In progress", done: "✅ Verified" },
} as const

/** One line that says so, in its place; a file may have been merged from two that had it. */
function lineEdits(text: string, task: Task, says: string | null): Edit[] {
  const { verified, indent, insertAt } = task
  const [only, further] = verified
  const removed = verified.map(({ start, end }): Edit => ({ start, end, text: "" }))
  if (says === null) return removed
  const lineEnd = lineEndOf(text)
  const lineAt = (indentation: string) => `${indentation}_Verified:_ ${says}`
  if (only !== undefined && further === undefined) {
    if (only.says === says) return []
    // Moved further in, it might be below another task.
    const line = lineAt(/^[ \t]*/.exec(text.slice(only.start, only.end))?.[0] ?? "")
    const hasEnd = text[only.end - 1] === "\n"
    return [{ start: only.start, end: only.end, text: hasEnd ? line + lineEnd : line }]
  }
  const isAtEnd = insertAt === text.length && !text.endsWith("\n")
  const added = isAtEnd ? lineEnd + lineAt(indent) : lineAt(indent) + lineEnd
  return [{ start: insertAt, end: insertAt, text: added }, ...removed]
}

/** How many tasks are in which state. */
function overview({ tasks }: TaskList, summary: LedgerSummary): string[] {
  const states = tasks.map((task) => taskState(task, summary).kind)
  const count = (kind: (typeof states)[number]) => states.filter((one) => one === kind).length
  const others = [
    ["accepted", count("accepted")],
    ["failed", count("failed")],
    ["without proof", count("warned")],
    ["under way", count("under-way")],
    ["changed since", count("outdated")],
    ["claimed, unattested", count("unattested")],
  ].flatMap(([what, number]) => (number === 0 ? [] : [`${number} ${what}`]))
  return [[`**${count("verified")} of ${tasks.length} verified**`, ...others].join(", ")]
}
