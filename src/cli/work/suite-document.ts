import { countOf, hasPassed, type SuiteReport } from "../../workflow/suite/suite-report.ts"
import { patternText } from "../../workflow/suite/test-result.ts"

/** A report as programs are told. */
export function suiteDocument(report: SuiteReport, folder: string) {
  const { id, path, startedAt, results } = report
  return {
    suite: id,
    path,
    started_at: startedAt,
    passed: hasPassed(report),
    counts: {
      tests: results.length,
      passed: countOf(report, "passed"),
      failed: countOf(report, "failed"),
      timed_out: countOf(report, "timed-out"),
      unproven: countOf(report, "unproven"),
      unfinished: countOf(report, "unfinished"),
      not_run: countOf(report, "not-run"),
    },
    report: folder,
    tests: results.map((result) => ({
      id: result.test.id,
      name: result.test.name,
      category: result.test.category,
      result: result.outcome,
      reasons: result.reasons,
      execution_id: result.executionId,
      exit_code: result.exitCode,
      duration_ms: Math.round(result.durationMs),
      missing_patterns: result.missing.map(patternText),
      transcript: result.digest,
    })),
  }
}
