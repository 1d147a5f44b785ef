/** Where a value stands in a JSON text, from its first character to the one after its last. */
export type Span = { start: number; end: number }

/**
 * Where the fields of an object stand. To put something into a message without touching the rest of
 * it: what is parsed and written again loses long numbers and the order of things. The text must be
 * known to be JSON.
 */
export function fieldSpans(text: string, object: Span): Map<string, Span> {
  const spans = new Map<string, Span>()
  let at = afterSpace(text, object.start + 1)
  while (at < object.end && text[at] !== "}") {
    const nameEnd = endOfValue(text, at)
    const name: unknown = JSON.parse(text.slice(at, nameEnd))
    const start = afterSpace(text, afterSpace(text, nameEnd) + 1)
    const end = endOfValue(text, start)
    spans.set(String(name), { start, end })
    at = afterComma(text, end)
  }
  return spans
}

/** Where the elements of an array stand. */
export function elementSpans(text: string, array: Span): Span[] {
  const spans: Span[] = []
  let at = afterSpace(text, array.start + 1)
  while (at < array.end && text[at] !== "]") {
    const end = endOfValue(text, at)
    spans.push({ start: at, end })
    at = afterComma(text, end)
  }
  return spans
}

/** The one value that a text is, without the space around it. */
export function wholeSpan(text: string): Span {
  const start = afterSpace(text, 0)
  return { start, end: endOfValue(text, start) }
}

function afterComma(text: string, at: number): number {
  const next = afterSpace(text, at)
  return text[next] === "," ? afterSpace(text, next + 1) : next
}

function afterSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && /[ \t\r\n]/.test(text.charAt(at))) at += 1
  return at
}

function endOfValue(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return endOfString(text, start)
  if (first !== "{" && first !== "[") {
    let at = start
    while (at < text.length && !/[,\]} \t\r\n]/.test(text.charAt(at))) at += 1
    return at
  }
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at) - 1
    else if (character === "{" || character === "[") depth += 1
    else if (character === "}" || character === "]") depth -= 1
    if (depth === 0) return at + 1
  }
  return text.length
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at]
    if (character === "\\") at += 1
    else if (character === '"') return at + 1
  }
  return text.length
}
