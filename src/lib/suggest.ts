/** The candidate somebody most likely meant by a word, if any comes close enough. */
export function suggest(word: string, candidates: readonly string[]): string | null {
  const tolerated = Math.max(2, Math.floor(word.length / 4))
  let best: { candidate: string; distance: number } | null = null
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance > tolerated || distance >= candidate.length) continue
    if (best === null || distance < best.distance) best = { candidate, distance }
  }
  return best?.candidate ?? null
}

/** Letters to insert, delete or replace to make one word of the other. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [row, letter] of from.split("").entries()) {
    let left = row + 1
    const current = [left]
    for (const [column, above] of previous.slice(1).entries()) {
      const diagonal = previous[column] ?? 0
      left = Math.min(above + 1, left + 1, diagonal + (letter === to.charAt(column) ? 0 : 1))
      current.push(left)
    }
    previous = current
  }
  return previous.at(-1) ?? 0
}
