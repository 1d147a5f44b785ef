import { wordsOf } from "../execution/argument-rule.ts"

/** Values of these are never written, whatever the level. */
const secretNames = new Set([
  ...wordsOf("authorization proxy-authorization x-api-key cookie set-cookie token tokens"),
  ...wordsOf("accesstoken secret password apikey api_key env"),
])

/** What people run and what it says may hold secrets too: only who asks for `debug` sees them. */
const privateNames = new Set(["argv", "command", "input", "output"])

const deepest = 3
const replacement = "[redacted]"

type Fields = Readonly<Record<string, unknown>>

/**
 * The facts of a log line without what must not be in it, at the top or up to two levels down. By
 * hand, because it is done for every line: pino's own redaction took fifty microseconds each.
 */
export function censored(facts: Fields, showPrivate: boolean): Fields {
  return censorFields(facts, showPrivate, 1)
}

function censorFields(fields: Fields, showPrivate: boolean, depth: number): Fields {
  let copy: Record<string, unknown> | null = null
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    const kept = censorValue(name, value, showPrivate, depth)
    if (kept === value) continue
    copy ??= { ...fields }
    copy[name] = kept
  }
  return copy ?? fields
}

function censorValue(name: string, value: unknown, showPrivate: boolean, depth: number): unknown {
  if (value === undefined) return value
  if (secretNames.has(name.toLowerCase())) return replacement
  if (!showPrivate && privateNames.has(name)) return replacement
  return depth < deepest && isPlain(value) ? censorFields(value, showPrivate, depth + 1) : value
}

/** An error, a date and the like are written in their own way, not field by field. */
function isPlain(value: unknown): value is Fields {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
