import { type JunitCase, type JunitProperty, junitText } from "../../lib/report/junit.ts"
import type { SuiteReport } from "./suite-report.ts"
import type { TestResult } from "./test-result.ts"

/** The report for machines that read test results: a suite for each category. */
export function reportAsJunit({ id, path, startedAt, results }: SuiteReport): string {
  const byCategory = Map.groupBy(results, ({ test }) => test.category)
  const properties: JunitProperty[] = [
    ["file", path],
    ["started", startedAt],
  ]
  const suites = [...byCategory].map(([name, those]) => {
    return { name, properties, cases: those.map((result) => caseOf(id, result)) }
  })
  return junitText({ name: id, suites })
}

function caseOf(suite: string, result: TestResult): JunitCase {
  const { test, durationMs } = result
  return {
    name: test.name === test.id ? test.id : `${test.id}: ${test.name}`,
    className: `${suite}.${test.category}`,
    durationMs,
    properties: propertiesOf(result),
    trouble: troubleOf(result),
  }
}

function propertiesOf({ outcome, executionId, digest, exitCode }: TestResult): JunitProperty[] {
  return [
    ["result", outcome],
    ...(executionId === null ? [] : [["execution", executionId] satisfies JunitProperty]),
    ...(digest === null ? [] : [["transcript", digest] satisfies JunitProperty]),
    ...(exitCode === null ? [] : [["exit code", exitCode] satisfies JunitProperty]),
  ]
}

function troubleOf({ outcome, reasons, tail }: TestResult): JunitCase["trouble"] {
  if (outcome === "passed") return null
  const isOpen = outcome === "unfinished" || outcome === "not-run"
  const kind = isOpen ? "error" : "failure"
  const message = outcome === "failed" ? (reasons[0] ?? "") : `${outcome}: ${reasons[0] ?? ""}`
  return { kind, message, details: [...reasons, tail].filter((line) => line !== "").join("\n") }
}
