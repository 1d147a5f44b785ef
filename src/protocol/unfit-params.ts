import type { z } from "zod"
import { type Failure, failure } from "./failure.ts"
import type { PolicyKind } from "./notifications.ts"

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
export function unfitParams(
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
