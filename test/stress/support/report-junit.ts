import { type MemoryPeaks, memoryPeaks, type Report } from "./report.ts"
import type { Outcome, Scenario } from "./scenario.ts"

/** The report for machines that read test results; figures are properties of their test case. */
export function reportAsJunit(report: Report): string {
  const { scenarios } = report
  const totals = attributes({
    name: "stress",
    tests: scenarios.length,
    failures: scenarios.filter(({ outcome }) => outcome.kind === "failed").length,
    errors: scenarios.filter(({ outcome }) => outcome.kind === "unfinished").length,
    time: seconds(scenarios.reduce((sum, { durationMs }) => sum + durationMs, 0)),
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${totals}>`,
    `  <testsuite${totals}>`,
    ...properties("    ", [
      ["mode", report.mode],
      ["seed", report.seed],
      ["machine", report.machine],
    ]),
    ...scenarios.flatMap(testCase),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n")
}

function testCase(scenario: Scenario): string[] {
  const { name, durationMs, outcome } = scenario
  const head = attributes({ classname: "stress", name, time: seconds(durationMs) })
  return [
    `    <testcase${head}>`,
    ...properties("      ", figuresOf(scenario)),
    ...failure(outcome),
    "    </testcase>",
  ]
}

type Property = [name: string, value: string | number]

function figuresOf({ latencies, memory, orphans, counts, notes }: Scenario): Property[] {
  return [
    ["orphans", orphans],
    ...latencies.flatMap(({ what, count, p50Ms, p99Ms, maxMs }): Property[] => [
      [`${what} count`, count],
      [`${what} p50 ms`, p50Ms.toFixed(3)],
      [`${what} p99 ms`, p99Ms.toFixed(3)],
      [`${what} max ms`, maxMs.toFixed(3)],
    ]),
    ...memory.map(memoryPeaks).flatMap(peakProperties),
    ...counts.map(({ what, value }): Property => [what, value]),
    ...notes.map((note): Property => ["note", note]),
  ]
}

function peakProperties({ name, keeperRssMb, gatewayRssMb, bothPssMb }: MemoryPeaks): Property[] {
  const prefix = name === "" ? "" : `${name} `
  return [
    [`${prefix}keeper peak RSS MB`, keeperRssMb.toFixed(1)],
    [`${prefix}gateway peak RSS MB`, gatewayRssMb.toFixed(1)],
    [`${prefix}both peak PSS MB`, bothPssMb.toFixed(1)],
  ]
}

function failure(outcome: Outcome): string[] {
  switch (outcome.kind) {
    case "passed":
      return []
    case "unfinished":
      return ['      <error message="it did not come to its end"/>']
    case "failed": {
      const message = attributes({ message: outcome.error.split("\n")[0] ?? "" })
      return [`      <failure${message}>${escaped(outcome.error)}</failure>`]
    }
  }
}

function properties(indent: string, values: Property[]): string[] {
  const lines = values.map(([name, value]) => `<property${attributes({ name, value })}/>`)
  return ["<properties>", ...lines.map((line) => `  ${line}`), "</properties>"].map(
    (line) => indent + line,
  )
}

function attributes(values: Record<string, string | number>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join("")
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

/** XML has no way at all to write most control characters, nor half a surrogate pair. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\u{fffd}")
    .replace(/[&<>"']/g, (character) => entities[character] ?? character)
}
