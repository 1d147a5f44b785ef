/** One line of a text: `text` is between `start` and `end`; `next` is after its line end. */
export type Line = {
  number: number // from 1
  start: number
  end: number
  next: number
  text: string
}

/**
 * Lines end with LF or CRLF. Behind a final line end there is no further line; a byte order mark is
 * before the first.
 */
export function linesOf(text: string): Line[] {
  const lines: Line[] = []
  for (let start = text.startsWith("\uFEFF") ? 1 : 0; start < text.length; ) {
    const found = text.indexOf("\n", start)
    const next = found < 0 ? text.length : found + 1
    const end = found < 0 ? next : found - (text[found - 1] === "\r" && found > start ? 1 : 0)
    lines.push({ number: lines.length + 1, start, end, next, text: text.slice(start, end) })
    start = next
  }
  return lines
}

/** The line end that a text uses: that of its first line, LF where it has only one. */
export function lineEndOf(text: string): "\n" | "\r\n" {
  const first = text.indexOf("\n")
  return first > 0 && text[first - 1] === "\r" ? "\r\n" : "\n"
}
