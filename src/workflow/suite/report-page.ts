import { duration, figure } from "../../lib/report/figures.ts"
import { pageBadge, pageTable, pageText, type Tile } from "../../lib/report/page.ts"
import { barPlot } from "../../lib/report/svg-plot.ts"
import { xmlText } from "../../lib/report/xml-text.ts"
import {
  categoriesIn,
  countOf,
  hasPassed,
  percentPassed,
  type SuiteReport,
  titleOf,
} from "./suite-report.ts"
import { patternText, type TestResult } from "./test-result.ts"

/** The report as one page that needs nothing from anywhere. */
export function reportAsPage(report: SuiteReport): string {
  const { id, path, startedAt, results } = report
  return pageText({
    title: `Suite ${id}`,
    subtitle: `${startedAt.replace("T", " ").slice(0, 16)} UTC · ${path}`,
    tiles: tilesOf(report),
    sections: [
      `<section><h2>Categories</h2>${categoryTable(report)}</section>`,
      `<section><h2>Tests</h2>${testTable(results)}`,
      `<div class="plots">${plot(results)}</div></section>`,
      ...results.map(resultSection),
    ],
  })
}

function tilesOf(report: SuiteReport): Tile[] {
  const { results } = report
  const passed = countOf(report, "passed")
  const count = (label: string, value: number): Tile => {
    return { label, value: String(value), tone: value === 0 ? "" : "bad" }
  }
  const all = results.reduce((sum, { durationMs }) => sum + durationMs, 0)
  return [
    {
      label: `${passed} of ${results.length} passed`,
      value: `${figure(percentPassed(report))} %`,
      tone: hasPassed(report) ? "good" : "bad",
    },
    count("failed", countOf(report, "failed")),
    count("timed out", countOf(report, "timed-out")),
    count("nothing proven", countOf(report, "unproven")),
    count("not run, or not to its end", countOf(report, "not-run") + countOf(report, "unfinished")),
    { label: "of all tests together", value: duration(all), tone: "" },
  ]
}

function categoryTable(report: SuiteReport): string {
  const rows = categoriesIn(report).map(({ name, passed, of }) => {
    return [xmlText(name), String(passed), String(of)]
  })
  return pageTable(["category", "passed", "tests"], rows)
}

function testTable(results: readonly TestResult[]): string {
  const rows = results.map((result, index) => [
    `<a href="#test-${index}">${xmlText(titleOf(result))}</a>`,
    pageBadge(result.outcome),
    duration(result.durationMs),
    result.executionId ?? "none",
  ])
  return pageTable(["test", "result", "duration", "execution"], rows)
}

const mostBars = 25

function plot(results: readonly TestResult[]): string {
  const slowest = results.toSorted((one, other) => other.durationMs - one.durationMs)
  const bars = slowest.slice(0, mostBars).map((result) => {
    return { name: titleOf(result).slice(-40), value: result.durationMs / 1000 }
  })
  const isAll = results.length <= mostBars
  return barPlot({ title: isAll ? "Duration" : "Duration of the slowest", unit: "seconds", bars })
}

function resultSection(result: TestResult, index: number): string {
  const { test, outcome, durationMs, reasons, tail, digest, missing } = result
  const name = test.name === test.id ? "" : ` ${xmlText(test.name)}`
  const took = `<small>${duration(durationMs)}</small>`
  const isMissing = new Set(missing)
  const patterns = test.patterns.map((pattern) => {
    return [xmlText(patternText(pattern)), isMissing.has(pattern) ? "missing" : "found"]
  })
  return [
    `<section id="test-${index}">`,
    `<h2>${xmlText(titleOf(result))}${name} ${pageBadge(outcome)} ${took}</h2>`,
    `<p class="note">${xmlText(askedOf(result))}</p>`,
    reasons.length > 0 ? `<pre class="error">${xmlText(reasons.join("\n"))}</pre>` : "",
    result.executionId !== null && patterns.length > 0
      ? pageTable(["looked for in its output", ""], patterns)
      : "",
    tail === "" ? "" : `<p class="note">The last of its output:</p><pre>${xmlText(tail)}</pre>`,
    digest === null ? "" : `<p class="note">transcript ${digest}</p>`,
    "</section>",
  ].join("\n")
}

function askedOf({ test: { act } }: TestResult): string {
  return act.kind === "command" ? act.command : act.request
}
