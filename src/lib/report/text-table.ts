/** Columns below each other: the first to the left, figures to the right. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return []
  const widths = head.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), title.length),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
  return [line(head), ...rows.map(line)]
}

/** Parts with an empty line between them; those without lines are left out. */
export function textSections(sections: readonly (readonly string[])[]): string {
  const texts = sections.filter((lines) => lines.length > 0).map((lines) => lines.join("\n"))
  return `${texts.join("\n\n")}\n`
}
