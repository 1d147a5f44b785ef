import { memberEdits } from "../documents/review/member-edits.ts"
import type { Box } from "../documents/task.ts"
import type { Work } from "../documents/work-kind.ts"

type Piece = { start: number; end: number; text: string }

/** A work without what was rendered into it: that makes no other files of those around it. */
export function ownText(work: Work): string {
  const regions = work.regions.map(({ start, end }): Piece => ({ start, end, text: "" }))
  const ofFixes =
    work.kind === "fixes"
      ? work.fixes.flatMap(({ node }): Piece[] => memberEdits(work.text, node, "result", null))
      : []
  const ofTasks =
    work.kind === "tasks"
      ? work.tasks.flatMap(({ box, verified }): Piece[] => [
          ...openBox(box),
          ...verified.map(({ start, end }): Piece => ({ start, end, text: "" })),
        ])
      : []
  const pieces = [...regions, ...ofTasks, ...ofFixes].toSorted(
    (one, other) => one.start - other.start,
  )
  let text = ""
  let at = 0
  for (const piece of pieces) {
    if (piece.start < at) continue
    text += work.text.slice(at, piece.start) + piece.text
    at = piece.end
  }
  return text + work.text.slice(at)
}

function openBox(box: Box | null): Piece[] {
  if (box === null) return []
  const { form, start, end } = box
  if (form === "brackets") return [{ start, end, text: " " }]
  return form === "symbol" ? [{ start, end, text: "☐" }] : []
}
