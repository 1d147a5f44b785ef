import type { Redaction } from "../ports.ts"

const quoted = /"(?:[^"\\]|\\.)*"/g

/**
 * A message without what the patterns match. What somebody sent is quoted in it as JSON, where a
 * line end is written as two characters: it is looked at as it was sent, else a match would end
 * there and leave the rest.
 */
export function redactMessage(message: string, redaction: Redaction | null): string {
  if (redaction === null) return message
  const told = message.replace(quoted, (text) => {
    const sent = unquoted(text)
    const left = sent === null ? null : redaction.text(sent)
    return left === null || left.count === 0 ? text : JSON.stringify(left.text)
  })
  return redaction.text(told).text
}

/** Null where the quotes are not JSON's. */
function unquoted(text: string): string | null {
  try {
    return String(JSON.parse(text))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}
