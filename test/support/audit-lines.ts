import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Attempt, AuditEntry } from "../../src/protocol/audit-entry.ts"
import { until } from "./until.ts"

/** Every entry of a service's audit trail so far; a line that cannot be read fails the test. */
export function auditEntries(stateDir: string): AuditEntry[] {
  return auditText(stateDir)
    .split("\n")
    .slice(0, -1)
    .map((line) => AuditEntry.parse(JSON.parse(line)))
}

export function auditAttempts(stateDir: string): Attempt[] {
  return auditEntries(stateDir).filter((entry) => entry.event === "attempt")
}

export function auditDirectory(stateDir: string): string {
  return join(stateDir, "audit")
}

/** The files as they are, one after another. */
export function auditText(stateDir: string): string {
  const directory = auditDirectory(stateDir)
  const names = readdirSync(directory).toSorted()
  return names.map((name) => readFileSync(join(directory, name), "utf8")).join("")
}

/** How many refusals for a reason were noted, those that were only counted included. */
export function refusalCount(stateDir: string, reason: string): number {
  return auditAttempts(stateDir)
    .filter((attempt) => attempt.reason === reason)
    .reduce((sum, { count = 1 }) => sum + count, 0)
}

/** What the gateway refuses reaches the file a moment after the answer. */
export function untilNoted(stateDir: string, facts: Partial<Attempt>): Promise<Attempt> {
  const entries = Object.entries(facts)
  return until(`an audit line of ${JSON.stringify(facts)}`, () =>
    auditAttempts(stateDir).find((attempt) => {
      const found = new Map<string, unknown>(Object.entries(attempt))
      return entries.every(([name, value]) => found.get(name) === value)
    }),
  )
}
