import { onOneLine } from "../../lib/harmless-text.ts"

const mostCharacters = 200

/** On one line of Markdown, without ending a comment or beginning one. */
export function inline(text: string): string {
  const line = onOneLine(text).replaceAll("<!--", "<! --").replaceAll("-->", "-- >").trim()
  return line.length <= mostCharacters ? line : `${line.slice(0, mostCharacters)}…`
}

/** A command as a code span: with more backticks than it has in a row. */
export function codeSpan(command: string): string {
  const text = onOneLine(command.trim())
  const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length)
  const fence = "`".repeat(Math.max(0, ...runs) + 1)
  const needsRoom = text.startsWith("`") || text.endsWith("`")
  return needsRoom ? `${fence} ${text} ${fence}` : `${fence}${text}${fence}`
}
