import { harmless, onOneLine } from "../../lib/harmless-text.ts"
import { duration, figure } from "../../lib/report/figures.ts"
import { textSections, textTable } from "../../lib/report/text-table.ts"
import { categoriesIn, countOf, percentPassed, type SuiteReport, titleOf } from "./suite-report.ts"
import type { TestResult } from "./test-result.ts"

/** The report for a terminal and for a log. */
export function reportAsText(report: SuiteReport): string {
  const { results } = report
  const passed = countOf(report, "passed")
  return textSections([
    [
      `Suite ${onOneLine(report.id)} (${onOneLine(report.path)}), ${report.startedAt}`,
      `${passed} of ${results.length} tests passed (${figure(percentPassed(report))} %)`,
    ],
    textTable(
      ["category", "passed", "tests"],
      categoriesIn(report).map(({ name, ...counts }) => {
        return [onOneLine(name), String(counts.passed), String(counts.of)]
      }),
    ),
    textTable(["test", "result", "duration", "execution"], results.map(resultRow)),
    ...results.map(troubleLines),
  ])
}

function resultRow(result: TestResult): string[] {
  const { outcome, durationMs, executionId } = result
  const name = onOneLine(titleOf(result))
  return [name, outcome, duration(durationMs), executionId ?? "none"]
}

function troubleLines(result: TestResult): string[] {
  const { outcome, reasons, tail } = result
  if (outcome === "passed") return []
  const last = tail === "" ? [] : ["  the last of its output:", ...quoted(tail)]
  return [
    `${outcome.toUpperCase()} ${onOneLine(titleOf(result))}:`,
    ...reasons.map((reason) => `  ${onOneLine(reason)}`),
    ...last,
  ]
}

function quoted(text: string): string[] {
  return harmless(text)
    .split("\n")
    .map((line) => `  | ${line}`.trimEnd())
}
