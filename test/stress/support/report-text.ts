import { duration, figure } from "../../../src/lib/report/figures.ts"
import { textSections, textTable } from "../../../src/lib/report/text-table.ts"
import { memoryPeaks, orphansOf, passRate, type Report } from "./report.ts"
import type { Scenario } from "./scenario.ts"

/** The report for a terminal and for a log. */
export function reportAsText(report: Report): string {
  const { passed, of, percent } = passRate(report)
  return textSections([
    [
      `Stress report (${report.mode} mode, seed ${report.seed})`,
      report.machine,
      `${passed} of ${of} scenarios passed (${figure(percent)} %), ${orphansOf(report)} orphans`,
    ],
    textTable(["scenario", "result", "duration", "orphans"], report.scenarios.map(scenarioRow)),
    textTable(["latency, ms", "count", "p50", "p99", "max"], report.scenarios.flatMap(latencyRows)),
    textTable(
      ["most memory, MB", "keeper RSS", "gateway RSS", "PSS of both"],
      report.scenarios.flatMap(memoryRows),
    ),
    textTable(["count", "value"], report.scenarios.flatMap(countRows)),
    report.scenarios.flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}`)),
    report.scenarios.flatMap(failureLines),
  ])
}

function scenarioRow({ name, outcome, durationMs, orphans }: Scenario): string[] {
  return [name, outcome.kind, duration(durationMs), String(orphans)]
}

function latencyRows({ name, latencies }: Scenario): string[][] {
  return latencies.map(({ what, count, p50Ms, p99Ms, maxMs }) => [
    `${name}: ${what}`,
    ...[count, p50Ms, p99Ms, maxMs].map(figure),
  ])
}

function memoryRows({ name, memory }: Scenario): string[][] {
  return memory.map((series) => {
    const { keeperRssMb, gatewayRssMb, bothPssMb } = memoryPeaks(series)
    const subject = series.name === "" ? name : `${name}: ${series.name}`
    return [subject, ...[keeperRssMb, gatewayRssMb, bothPssMb].map((mb) => mb.toFixed(1))]
  })
}

function countRows({ name, counts }: Scenario): string[][] {
  return counts.map(({ what, value }) => [`${name}: ${what}`, figure(value)])
}

function failureLines({ name, outcome }: Scenario): string[] {
  switch (outcome.kind) {
    case "passed":
      return []
    case "unfinished":
      return [`UNFINISHED ${name}: it did not come to its end`]
    case "failed":
      return [`FAILED ${name}:`, ...outcome.error.split("\n").map((line) => `  ${line}`)]
  }
}
