import { fail, ok, type Result } from "../../lib/result.ts"
import { compileRedaction, type NamedPattern, type Redaction } from "./redaction.ts"

const mostTold = 10

/**
 * Reads a file of patterns, one a line: `name = pattern`, or the pattern alone. Null when there is
 * none in it; else what is wrong, line by line.
 */
export function readPatternFile(text: string): Result<Redaction | null, string[]> {
  const lines = text
    .split("\n")
    .map((line, at) => ({ number: at + 1, text: line.trim() }))
    .filter(({ text: line }) => line !== "" && !line.startsWith("#"))
  if (lines.length === 0) return ok(null)

  const redaction = compileRedaction(lines.map(({ text: line }) => namedPattern(line)))
  if (redaction.ok) return redaction
  const told = redaction.failure
    .slice(0, mostTold)
    .map(({ pattern, why }) => `line ${lines[pattern]?.number ?? 0}: ${why}`)
  const untold = redaction.failure.length - told.length
  return fail(untold === 0 ? told : [...told, `and ${untold} more lines`])
}

/** Only with spaces around its `=` is it a name: `password=\S+` is a pattern as it stands. */
function namedPattern(line: string): NamedPattern {
  const named = /^([A-Za-z][\w.-]{0,63})\s+=\s+(.+)$/.exec(line)
  const [, name = null, text = line] = named ?? []
  return { name, text }
}
