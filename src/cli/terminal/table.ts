import { onOneLine } from "../../lib/harmless-text.ts"
import type { Text } from "./terminal-text.ts"

/** Its title; on the left, unless it says otherwise. */
export type Column = string | { readonly right: string }

export type Cell = { readonly text: string; readonly paint?: (text: string) => Text }

const gap = "  "
const leastLastColumn = 10

/**
 * Rows under their titles, each of one line, whatever is in its cells. The last column gets what
 * room is left, and is cut there.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number | null,
): Text[] {
  const titles = columns.map((column) => ({
    text: typeof column === "string" ? column : column.right,
  }))
  const lines = [titles, ...rows].map((cells) =>
    cells.map((cell) => ({ ...cell, text: onOneLine(cell.text) })),
  )
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((cells) => Bun.stringWidth(cells[index]?.text ?? ""))),
  )
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + gap.length, 0)
  const room = width === null ? null : Math.max(leastLastColumn, width - before)
  return lines.map((cells) => renderLine(columns, cells, widths, room))
}

function renderLine(
  columns: readonly Column[],
  cells: readonly Cell[],
  widths: readonly number[],
  room: number | null,
): Text {
  const last = columns.length - 1
  // Nothing but spaces would come after this one.
  const lastShown = columns.findLastIndex((_, index) => (cells[index]?.text ?? "") !== "")
  return columns.slice(0, lastShown + 1).map((column, index) => {
    const { text, paint = unpainted } = cells[index] ?? { text: "" }
    const shown = index === last && room !== null ? cut(text, room) : text
    const padding = " ".repeat(Math.max(0, (widths[index] ?? 0) - Bun.stringWidth(shown)))
    const between = index === 0 ? "" : gap
    if (typeof column !== "string") return [between, padding, paint(shown)]
    return index === lastShown ? [between, paint(shown)] : [between, paint(shown), padding]
  })
}

function unpainted(text: string): Text {
  return text
}

export function cut(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text
  let shown = ""
  let used = 1 // the ellipsis
  for (const character of text) {
    used += Bun.stringWidth(character)
    if (used > width) break
    shown += character
  }
  return `${shown}…`
}
