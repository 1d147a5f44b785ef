import type { z } from "zod"
import { fail, ok, type Result } from "../lib/result.ts"

// A message of 8 MB has room for a million mistakes: told one by one, they were an answer of 52 MB
// that took half a gigabyte to make.
const mostIssues = 20
const mostFields = 10_000

type Issue = z.core.$ZodIssue

/** What a client sent, read with a schema; or what is wrong with it, as far as it is told. */
export function checkParams<Schema extends z.ZodType>(
  schema: Schema,
  sent: unknown,
): Result<z.output<Schema>, Issue[]> {
  const unreadable = unreadableField(sent)
  if (unreadable !== null) return fail([unreadable])
  const parsed = schema.safeParse(sent)
  return parsed.success ? ok(parsed.data) : fail(parsed.error.issues.slice(0, mostIssues))
}

/**
 * Looked for first: a schema collects what it finds wrong with every field before it answers. It
 * also passes over a field called `__proto__` without a word: a filter by it would be none.
 */
function unreadableField(sent: unknown): Issue | null {
  if (typeof sent !== "object" || sent === null) return null
  for (const [name, value] of Object.entries<unknown>({ ...sent })) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) continue
    const path = Object.hasOwn(value, "__proto__") ? [name, "__proto__"] : [name]
    const isTooLarge = Object.keys(value).length > mostFields
    if (path.length === 1 && !isTooLarge) continue
    const message = isTooLarge ? `at most ${mostFields} fields` : "no field can be called so"
    return { code: "custom", path, message, input: undefined }
  }
  return null
}
