export type NaivePattern = { name: string | null; text: string }

/**
 * What redaction is, said as plainly as possible: every stretch of the whole text is tried with the
 * runtime's own expressions, one character for each byte. Slow, and needs all of the text at once.
 */
export function naiveRedaction(text: string, patterns: readonly NaivePattern[]) {
  const matches = allMatches(text, patterns)
  let redacted = ""
  let count = 0
  for (let at = 0; at < text.length; at++) {
    if (!matches.some(({ from, to }) => from <= at && at < to)) {
      redacted += text[at]
      continue
    }
    if (matches.some(({ from, to }) => from < at && at < to)) continue
    const [first] = matches
      .filter(({ from }) => from === at)
      .toSorted((a, b) => a.to - b.to || a.pattern - b.pattern)
    const name = patterns[first?.pattern ?? 0]?.name ?? null
    redacted += name === null ? "[redacted]" : `[redacted:${name}]`
    count += 1
  }
  return { redacted, count }
}

type Match = { from: number; to: number; pattern: number }

function allMatches(text: string, patterns: readonly NaivePattern[]): Match[] {
  const matches: Match[] = []
  for (const [pattern, { text: source }] of patterns.entries()) {
    const isCaseless = source.startsWith("(?i)")
    const plain = isCaseless ? source.slice(4) : source
    const whole = new RegExp(`^(?:${plain})$`, isCaseless ? "i" : "")
    for (let from = 0; from < text.length; from++) {
      for (let to = from + 1; to <= text.length; to++) {
        if (whole.test(text.slice(from, to))) matches.push({ from, to, pattern })
      }
    }
  }
  return matches
}
