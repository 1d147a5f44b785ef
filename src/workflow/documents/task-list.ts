import { fail, ok, type Result } from "../../lib/result.ts"
import { ownLines, readWorkText, type WorkText } from "./document.ts"
import type { DocumentFault } from "./fault.ts"
import type { MarkedLine } from "./prose.ts"
import type { Task } from "./task.ts"
import { blocksIn, type TaskBlock } from "./task-blocks.ts"
import { readTask } from "./task-body.ts"

export type TaskList = WorkText & {
  kind: "tasks"
  title: string | null // of its first heading
  tasks: Task[] // in their order; nested ones follow theirs
}

/** A box ticked by hand is only a claim: what is verified is in the ledger alone. */
export function readTaskList(text: string): Result<TaskList, DocumentFault> {
  const read = readWorkText(text)
  if (!read.ok) return read
  const blocks = blocksIn(ownLines(read.value))
  const repeated = repeatedId(blocks)
  if (repeated !== null) return fail(repeated)
  const tasks = blocks.map((block) => readTask(text, block))
  return ok({ ...read.value, kind: "tasks", title: titleOf(read.value.lines), tasks })
}

function repeatedId(blocks: readonly TaskBlock[]): DocumentFault | null {
  const seen = new Map<string, number>()
  for (const { id, head } of blocks) {
    const earlier = seen.get(id)
    const { number } = head.line
    if (earlier !== undefined) {
      const reason = `the task ${id} stands in line ${earlier} already: give each an id of its own`
      return { line: number, reason }
    }
    seen.set(id, number)
  }
  return null
}

function titleOf(lines: readonly MarkedLine[]): string | null {
  const first = lines.find(({ kind, text }) => kind === "prose" && /^#{1,6}\s/.test(text))
  return first?.text.replace(/^#+\s+/, "").trim() ?? null
}
