import type { TestOutcome, TestResult } from "./test-result.ts"

/** All that one run of a suite has shown. */
export type SuiteReport = {
  id: string
  path: string
  startedAt: string
  results: readonly TestResult[] // of every test that was chosen, in its order
}

export function countOf({ results }: SuiteReport, outcome: TestOutcome): number {
  return results.filter((result) => result.outcome === outcome).length
}

/** Where nothing was run, nothing has passed. */
export function hasPassed(report: SuiteReport): boolean {
  return report.results.length > 0 && countOf(report, "passed") === report.results.length
}

export function percentPassed(report: SuiteReport): number {
  const { length } = report.results
  return length === 0 ? 0 : (100 * countOf(report, "passed")) / length
}

export type CategoryCounts = { name: string; passed: number; of: number }

export function categoriesIn({ results }: SuiteReport): CategoryCounts[] {
  const byName = Map.groupBy(results, ({ test }) => test.category)
  return [...byName].map(([name, those]) => {
    const passed = those.filter(({ outcome }) => outcome === "passed").length
    return { name, passed, of: those.length }
  })
}

export function titleOf({ test: { category, id } }: TestResult): string {
  return `${category}/${id}`
}
