import { fail, ok, type Result } from "./result.ts"

/** Completes the sentence "The message is …". */
export type JsonFault = "not JSON" | `JSON of more than ${typeof mostValues} values`

// Eight megabytes of brackets become 400 megabytes of arrays. The largest request there is, with
// every argument and variable it may have, comes nowhere near this.
const mostValues = 250_000
const tooSmallToMatter = 64 * 1024

/** What a stranger sent as JSON: refused before it is taken apart when it would become too much. */
export function parseJson(text: string): Result<unknown, JsonFault> {
  if (text.length > tooSmallToMatter && hasTooManyValues(text)) {
    return fail(`JSON of more than ${mostValues} values`)
  }
  const value = tryParseJson(text)
  return value === undefined ? fail("not JSON") : ok(value)
}

/** Undefined for what is no JSON: no schema takes that. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

const quote = 0x22
const backslash = 0x5c
const beforeValues: ReadonlySet<number> = new Set(Array.from("[{,", (mark) => mark.charCodeAt(0)))

/** Counts what a value may follow, outside of strings. */
function hasTooManyValues(text: string): boolean {
  let values = 1
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (beforeValues.has(code)) values += 1
    if (values > mostValues) return true
  }
  return false
}

/** Where the string that begins at a quote has its other one. */
function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1)
  while (at >= 0 && isEscaped(text, at, start)) at = text.indexOf('"', at + 1)
  return at < 0 ? text.length : at
}

function isEscaped(text: string, at: number, start: number): boolean {
  let before = at - 1
  while (before > start && text.charCodeAt(before) === backslash) before -= 1
  return (at - before) % 2 === 0
}
