/** Its title; on the left, unless it says otherwise. */
export type Column = string | { readonly right: string }

export type Cell = { readonly text: string; readonly paint?: (text: string) => string }

const gap = "  "
const leastLastColumn = 10

/** Rows under their titles. The last column gets what room is left, and is cut there. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number | null,
): string[] {
  const titles = columns.map((column) => ({
    text: typeof column === "string" ? column : column.right,
  }))
  const lines = [titles, ...rows]
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
): string {
  const last = columns.length - 1
  return columns
    .map((column, index) => {
      const { text, paint = unpainted } = cells[index] ?? { text: "" }
      const shown = index === last && room !== null ? cut(text, room) : text
      const padding = " ".repeat(Math.max(0, (widths[index] ?? 0) - Bun.stringWidth(shown)))
      if (typeof column !== "string") return padding + paint(shown)
      return index === last ? paint(shown) : paint(shown) + padding
    })
    .join(gap)
    .trimEnd()
}

function unpainted(text: string): string {
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

/** What controls, orders or hides text: of no width, or not where it seems to stand. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** What somebody else wrote, made harmless for a terminal, one line long, and all of it seen. */
export function onOneLine(text: string): string {
  return text.replace(unseen, (character) => {
    const escaped = JSON.stringify(character).slice(1, -1)
    return escaped === character ? unitsOf(character) : escaped
  })
}

function unitsOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")
}
