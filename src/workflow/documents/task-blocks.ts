import type { MarkedLine } from "./prose.ts"
import { columnsOf, slugOf, type TaskHead, taskHead } from "./task-head.ts"
import { isVerifiedLine } from "./verified-line.ts"

/** A task with the lines that are its own: what is nested in it has its own. */
export type TaskBlock = {
  head: TaskHead
  id: string
  parent: string | null
  lines: MarkedLine[] // the first is that of the head
  before: MarkedLine[] // those of them that stand before the first nested task
  hasNested: boolean
}

export function blocksIn(lines: readonly MarkedLine[]): TaskBlock[] {
  const blocks: TaskBlock[] = []
  let open: TaskBlock[] = [] // the innermost last
  const used = new Set<string>()
  let isAfterBlank = false
  for (const line of lines) {
    if (isVerifiedLine(line)) {
      // What follows one of ours belongs where it would without it.
      stillOpen(open, line, isAfterBlank).at(-1)?.lines.push(line)
      continue
    }
    const head = line.kind === "prose" ? taskHead(line) : null
    open = head === null ? stillOpen(open, line, isAfterBlank) : outside(open, head.depth)
    isAfterBlank = line.kind === "prose" && line.text.trim() === ""
    const parent = open.at(-1)
    if (head === null) {
      parent?.lines.push(line)
      if (parent?.hasNested === false) parent.before.push(line)
      continue
    }
    const id = head.givenId ?? unused(slugOf(head.title), parent, used)
    used.add(id)
    if (parent !== undefined) parent.hasNested = true
    const block: TaskBlock = {
      head,
      id,
      parent: parent?.id ?? null,
      lines: [line],
      before: [line],
      hasNested: false,
    }
    blocks.push(block)
    open = [...open, block]
  }
  return blocks
}

/** The open tasks in which something that stands so far in is nested. */
function outside(open: readonly TaskBlock[], depth: number): TaskBlock[] {
  return open.filter(({ head }) => head.depth < depth)
}

/** A line without indentation goes on with what is open, unless a blank line came before. */
function stillOpen(
  open: readonly TaskBlock[],
  line: MarkedLine,
  isAfterBlank: boolean,
): TaskBlock[] {
  const text = line.text
  if (line.kind !== "prose" || text.trim() === "") return [...open]
  const heading = /^(#{1,6})\s/.exec(text)?.[1]
  if (heading !== undefined) return outside(open, heading.length - 10)
  if (/^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(text)) return []
  const depth = columnsOf(/^\s*/.exec(text)?.[0] ?? "")
  const isItem = /^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(text)
  const inside = outside(open, depth)
  const isLazy = !isItem && !isAfterBlank && !inside.some(({ head }) => head.depth >= 0)
  return isLazy ? [...open] : inside
}

function unused(slug: string, parent: TaskBlock | undefined, used: ReadonlySet<string>): string {
  const id = parent === undefined ? slug : `${parent.id}/${slug}`
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? id : `${id}-${number}`
    if (!used.has(candidate)) return candidate
  }
}
