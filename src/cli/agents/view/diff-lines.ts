import { z } from "zod"
import { changedLines } from "../../../client/messages/changed-lines.ts"
import { type Line, line } from "./line.ts"

const indent = "    "

const Patched = z.object({
  structuredPatch: z.array(
    z.object({ oldStart: z.number(), newStart: z.number(), lines: z.array(z.string()) }),
  ),
})

/** The changes that a tool says it has made to a file; none where it says nothing of the kind. */
export function patchLines(toolResult: unknown): Line[] {
  const read = Patched.safeParse(toolResult)
  if (!read.success) return []
  return read.data.structuredPatch.flatMap(({ oldStart, newStart, lines }) => [
    line(`@@ line ${newStart}${newStart === oldStart ? "" : ` (was ${oldStart})`}`, {
      prefix: indent,
      colour: "cyan",
    }),
    ...lines.map(changedLine),
  ])
}

/** What would become of a piece of text. */
export function replacementLines(before: string, after: string): Line[] {
  return changedLines(before, after).map(changedLine)
}

function changedLine(text: string): Line {
  const colour = text.startsWith("+") ? "green" : text.startsWith("-") ? "red" : null
  return line(text.slice(1), { prefix: `${indent}${text.slice(0, 1) || " "} `, colour })
}

/** The first lines of a long change, and how much of it is not shown. */
export function foldedDiff(lines: readonly Line[], most: number): Line[] {
  const left = lines.length - most
  if (left <= 0) return [...lines]
  const more = `… ${left.toLocaleString("en")} more ${left === 1 ? "line" : "lines"}`
  return [...lines.slice(0, most), line(more, { prefix: indent, colour: "dim" })]
}
