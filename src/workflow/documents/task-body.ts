import type { MarkedLine } from "./prose.ts"
import type { Acceptance, Box, BoxMark, Task } from "./task.ts"
import type { TaskBlock } from "./task-blocks.ts"
import { checksIn } from "./task-checks.ts"
import { isVerifiedLine, verifiedLines } from "./verified-line.ts"
import { versionOf } from "./version.ts"

export function readTask(text: string, { head, id, parent, lines, before }: TaskBlock): Task {
  const verified = verifiedLines(lines)
  const says = verified.at(-1)?.says ?? "" // a file may have been merged from two
  const own = lines.filter((line) => !isVerifiedLine(line))
  const box = head.box ?? statusIn(own)
  const last = before.findLast(isPlaceBefore)
  return {
    id,
    title: head.title,
    line: head.line.number,
    parent,
    box,
    ...checksIn(own),
    isClaimed: box?.mark === "done" || says.startsWith(claimWords),
    accepted: acceptanceIn(says),
    verified,
    version: versionOf(own.map((line) => withoutMark(line, box).slice(indentation(line, head)))),
    text: own.map(({ start, next }) => text.slice(start, next)).join(""),
    indent: head.indent,
    insertAt: (last ?? head.line).next,
  }
}

/** After the last of its words, but never within code that goes on. */
function isPlaceBefore(line: MarkedLine): boolean {
  return line.text.trim() !== "" && !line.isOpen
}

function indentation(line: MarkedLine, head: TaskBlock["head"]): number {
  const own = /^\s*/.exec(line.text)?.[0].length ?? 0
  return Math.min(own, /^\s*/.exec(head.line.text)?.[0].length ?? 0)
}

function withoutMark(line: MarkedLine, box: Box | null): string {
  if (box === null || line.number !== box.line) return line.text
  return line.text.slice(0, box.start - line.start) + line.text.slice(box.end - line.start)
}

/** What the line below a task says of a tick that nothing attests. */
export const claimWords = "unattested"

export function acceptanceText({ by, why }: Acceptance): string {
  return `accepted by ${by}: ${why}`
}

function acceptanceIn(says: string): Acceptance | null {
  const [, by, why = ""] = /^accepted by ([^:]+):\s*(.*)$/.exec(says) ?? []
  return by === undefined ? null : { by: by.trim(), why }
}

const statusForm = /^(\s*(?:[-*+]\s+)?\*\*Status(?:\*\*\s*:|:\s*\*\*)\s*)(.*?)\s*$/i

function statusIn(lines: readonly MarkedLine[]): Box | null {
  for (const { kind, text, start, number } of lines) {
    const [, lead, words] = kind === "prose" ? (statusForm.exec(text) ?? []) : []
    if (lead === undefined || words === undefined) continue
    const from = start + lead.length
    return {
      form: "status",
      mark: statusMark(words),
      start: from,
      end: from + words.length,
      line: number,
    }
  }
  return null
}

function statusMark(words: string): BoxMark {
  if (/◔|⏳|in progress|partial|under way|started(?<!not started)/i.test(words)) return "under-way"
  const isDone = /✅|☑|\b(?:done|completed?|verified|passed|finished|graduated)\b/i.test(words)
  return isDone && !/\bnot\b/i.test(words) ? "done" : "open"
}
