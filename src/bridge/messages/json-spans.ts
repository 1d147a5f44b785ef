/** Where a value stands in a JSON text, from its first character to the one after its last. */
export type Span = { start: number; end: number }

/**
 * Where the fields of an object stand, so that something can be put into a message without changing
 * the rest: parsing it and writing it again would change long numbers and the order of fields. The
 * text must be valid JSON.
 */
export function fieldSpans(text: string, object: Span): Map<string, Span> {
  const spans = new Map<string, Span>()
  const parts = elementSpans(text, object)
  for (let at = 0; at < parts.length; at += 2) {
    const [name, value] = parts.slice(at, at + 2)
    if (name === undefined || value === undefined) break
    const key: unknown = JSON.parse(text.slice(name.start, name.end))
    spans.set(String(key), value)
  }
  return spans
}

/** Where the elements of an array stand, or the names and values of an object in turn. */
export function elementSpans(text: string, container: Span): Span[] {
  const spans: Span[] = []
  let start = skip(text, container.start + 1, separators)
  while (start < container.end - 1) {
    const end = endOfValue(text, start)
    spans.push({ start, end })
    start = skip(text, end, separators)
  }
  return spans
}

/** The value of a text, without the space around it. */
export function wholeSpan(text: string): Span {
  const start = skip(text, 0, space)
  return { start, end: endOfValue(text, start) }
}

const space = " \t\r\n"
const separators = `${space},:`

function skip(text: string, start: number, characters: string): number {
  let at = start
  while (at < text.length && characters.includes(text.charAt(at))) at += 1
  return at
}

function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at)
    else if (character === "{" || character === "[") depth += 1
    else if (character === "}" || character === "]") depth -= 1
    else if (depth === 0) return endOfWord(text, at)
    if (depth === 0) return at + 1
  }
  return text.length
}

/** Of a number, `true`, `false` or `null`. */
function endOfWord(text: string, start: number): number {
  let at = start
  while (at < text.length && !`${separators}]}`.includes(text.charAt(at))) at += 1
  return at
}

/** Where the closing quote stands. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1
    else if (text[at] === '"') return at
  }
  return text.length
}
