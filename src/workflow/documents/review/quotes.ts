import { linesOf } from "../lines.ts"
import { markLines } from "../prose.ts"

/** An execution that a feedback names, and what it says of it. */
export type Quote = {
  id: string
  line: number
  exits: readonly number[] // `exit 1` in the same line
  log: readonly string[] // of the code block right below it
}

const idForm = /(?<![A-Za-z0-9])[a-z2-7]{26}(?![A-Za-z0-9])/g

/** Every execution that is named in full, once for each line. */
export function quotesIn(feedback: string): Quote[] {
  const lines = markLines(linesOf(feedback))
  return lines.flatMap(({ text, number, kind }, index): Quote[] => {
    if (kind === "code") return []
    const ids = [...new Set(text.match(idForm))]
    // One log is of one execution.
    const log = ids.length === 1 ? logBelow(lines.slice(index + 1)) : []
    const exits = ids.length === 1 ? exitsIn(text) : []
    return ids.map((id) => ({ id, line: number, exits, log }))
  })
}

function exitsIn(text: string): number[] {
  return [...text.matchAll(/\bexit(?:ed|s)?(?: code| with)?:? (\d{1,3})\b/gi)].map(([, code]) => {
    return Number(code)
  })
}

type Marked = ReturnType<typeof markLines>[number]

/** Without its fences, and without lines that only say that something was left out. */
function logBelow(lines: readonly Marked[]): string[] {
  const first = lines.findIndex(({ text }) => text.trim() !== "")
  const fence = lines[first]
  if (fence === undefined || fence.kind !== "code") return []
  const [mark = ""] = /^\s*(?:`{3,}|~{3,})/.exec(fence.text) ?? []
  if (mark === "") return []
  const inside = lines.slice(first + 1)
  const end = inside.findIndex(({ text }) => text.trim().startsWith(mark.trim()))
  return inside
    .slice(0, end < 0 ? inside.length : end)
    .map(({ text }) => text.trim())
    .filter((text) => text !== "" && !/^(?:\.{3}|…|\[…\]|\[\.{3}\])$/.test(text))
}
