import { fail, ok, type Result } from "./result.ts"

/** Completes the sentence "The message is …". */
export type JsonFault = "not JSON" | TooMuch
type TooMuch =
  | `JSON of more than ${typeof mostValues} values`
  | `JSON of more than ${typeof mostLevels} levels`

// Eight megabytes of brackets become 400 megabytes of arrays. The largest request there is, with
// every argument and variable it may have, comes nowhere near this.
const mostValues = 250_000
// JSON.parse takes any depth, but JSON.stringify, and whoever else walks through it, does not.
const mostLevels = 1000
const tooSmallToMatter = 2 * mostLevels

/** What a stranger sent as JSON: refused before it is taken apart when it would become too much. */
export function parseJson(text: string): Result<unknown, JsonFault> {
  const tooMuch = text.length > tooSmallToMatter ? excessOf(text) : null
  if (tooMuch !== null) return fail(tooMuch)
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
const comma = 0x2c
// A bracket and a brace differ in one bit, as letters of both cases do.
const lowerCase = 0x20
const opening = 0x7b
const closing = 0x7d

/** Counts what a value may follow, outside of strings, and how many are open at once. */
function excessOf(text: string): TooMuch | null {
  let values = 1
  let levels = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === comma) values += 1
    else if ((code | lowerCase) === opening) {
      values += 1
      levels += 1
    } else if ((code | lowerCase) === closing) levels -= 1
    if (values > mostValues) return `JSON of more than ${mostValues} values`
    if (levels > mostLevels) return `JSON of more than ${mostLevels} levels`
  }
  return null
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
