import type { z } from "zod"
import { fail, ok, type Result } from "../lib/result.ts"
import { type Failure, failure } from "./failure.ts"
import type { PolicyKind } from "./notifications.ts"

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
    const message = isTooLarge ? `at most ${mostFields} fields` : "not a valid field name"
    return { code: "custom", path, message, input: undefined }
  }
  return null
}

/** The parameters that say what is executed; without a path, it is all of them. */
const sayWhatRuns: ReadonlySet<unknown> = new Set([
  undefined,
  "command",
  "argv",
  "shell",
  "cwd",
  "env",
])

/**
 * The refusal of parameters that do not fit their schema. Where an allow-list rules, what to
 * execute is said plainly or not at all: a wrong type or a NUL is taken for an attempt to get past.
 */
export function invalidParams(
  message: string,
  issues: readonly z.core.$ZodIssue[],
  policy: PolicyKind,
): Failure {
  const isAboutWhatRuns = issues.some(({ path }) => sayWhatRuns.has(path[0]))
  const isDenied = policy === "allow-list" && isAboutWhatRuns
  return failure(isDenied ? "SECURITY_DENIED" : "INVALID_PARAMS", message, { issues })
}

/** What is wrong, each with its place: `budget.bytes: expected number; …`. */
export function issuesText(issues: readonly z.core.$ZodIssue[]): string {
  const places = issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`,
  )
  return places.join("; ")
}
