import { type JunitCase, type JunitProperty, junitText } from "../../../src/lib/report/junit.ts"
import { type MemoryPeaks, memoryPeaks, type Report } from "./report.ts"
import type { Outcome, Scenario } from "./scenario.ts"

/** The report for machines that read test results; figures are properties of their test case. */
export function reportAsJunit({ mode, seed, machine, scenarios }: Report): string {
  const properties: JunitProperty[] = [
    ["mode", mode],
    ["seed", seed],
    ["machine", machine],
  ]
  const suite = { name: "stress", properties, cases: scenarios.map(testCase) }
  return junitText({ name: "stress", suites: [suite] })
}

function testCase(scenario: Scenario): JunitCase {
  const { name, durationMs, outcome } = scenario
  const properties = figuresOf(scenario)
  return { name, className: "stress", durationMs, properties, trouble: troubleOf(outcome) }
}

function figuresOf({ latencies, memory, orphans, counts, notes }: Scenario): JunitProperty[] {
  return [
    ["orphans", orphans],
    ...latencies.flatMap(({ what, count, p50Ms, p99Ms, maxMs }): JunitProperty[] => [
      [`${what} count`, count],
      [`${what} p50 ms`, p50Ms.toFixed(3)],
      [`${what} p99 ms`, p99Ms.toFixed(3)],
      [`${what} max ms`, maxMs.toFixed(3)],
    ]),
    ...memory.map(memoryPeaks).flatMap(peakProperties),
    ...counts.map(({ what, value }): JunitProperty => [what, value]),
    ...notes.map((note): JunitProperty => ["note", note]),
  ]
}

function peakProperties({
  name,
  keeperRssMb,
  gatewayRssMb,
  bothPssMb,
}: MemoryPeaks): JunitProperty[] {
  const prefix = name === "" ? "" : `${name} `
  return [
    [`${prefix}keeper peak RSS MB`, keeperRssMb.toFixed(1)],
    [`${prefix}gateway peak RSS MB`, gatewayRssMb.toFixed(1)],
    [`${prefix}both peak PSS MB`, bothPssMb.toFixed(1)],
  ]
}

function troubleOf(outcome: Outcome): JunitCase["trouble"] {
  switch (outcome.kind) {
    case "passed":
      return null
    case "unfinished":
      return { kind: "error", message: "it did not come to its end", details: "" }
    case "failed": {
      const { error } = outcome
      return { kind: "failure", message: error.split("\n")[0] ?? "", details: error }
    }
  }
}
