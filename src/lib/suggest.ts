/** The candidate somebody most likely meant by a word, if any comes close enough. */
export function suggest(word: string, candidates: readonly string[]): string | null {
  // Of a short word hardly anything is left after two changes: `top` is not a mistyped `mcp`.
  const tolerated = word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 4))
  let best: { candidate: string; distance: number } | null = null
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance > tolerated || distance >= candidate.length) continue
    if (best === null || distance < best.distance) best = { candidate, distance }
  }
  return best?.candidate ?? null
}

/** Letters to insert, delete, replace or swap with the next one to make one word of the other. */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    rows.push(current)
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped =
        row > 1 &&
        column > 1 &&
        from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1]
      current.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
  }
  return at(from.length, to.length)
}
