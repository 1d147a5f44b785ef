import { duration, figure } from "../../../src/lib/report/figures.ts"
import { pageBadge, pageTable, pageText, type Tile } from "../../../src/lib/report/page.ts"
import { barPlot, linePlot } from "../../../src/lib/report/svg-plot.ts"
import { xmlText } from "../../../src/lib/report/xml-text.ts"
import { bothPssMb } from "./both-pss.ts"
import { memoryPeaks, orphansOf, passRate, type Report } from "./report.ts"
import type { Latency, MemorySample, MemorySeries, Scenario } from "./scenario.ts"

/** The report as one page that needs nothing from anywhere. */
export function reportAsPage(report: Report): string {
  const { scenarios } = report
  return pageText({
    title: "Stress report",
    subtitle: subtitle(report),
    tiles: tilesOf(report),
    sections: [
      `<section><h2>Scenarios</h2>${scenarioTable(scenarios)}</section>`,
      ...scenarios.map(scenarioSection),
    ],
  })
}

function subtitle({ mode, seed, machine, scenarios }: Report): string {
  const when = scenarios[0]?.startedAt.replace("T", " ").slice(0, 16) ?? ""
  return [`${when} UTC`, `${mode} mode`, `seed ${seed}`, machine].join(" · ")
}

function tilesOf(report: Report): Tile[] {
  const { passed, of, percent } = passRate(report)
  const peaks = report.scenarios.flatMap(({ memory }) => memory.map(memoryPeaks))
  const orphans = orphansOf(report)
  const most = (label: string, values: number[]): Tile => {
    const mb = values.reduce((a, b) => Math.max(a, b), 0)
    return { label, value: `${figure(mb)} MB`, tone: "" }
  }
  return [
    {
      label: `${passed} of ${of} passed`,
      value: `${figure(percent)} %`,
      tone: passed === of ? "good" : "bad",
    },
    { label: "orphans found", value: String(orphans), tone: orphans === 0 ? "good" : "bad" },
    most(
      "keeper, most RSS",
      peaks.map(({ keeperRssMb }) => keeperRssMb),
    ),
    most(
      "gateway, most RSS",
      peaks.map(({ gatewayRssMb }) => gatewayRssMb),
    ),
    most(
      "both, most PSS",
      peaks.map((peak) => peak.bothPssMb),
    ),
  ]
}

function scenarioTable(scenarios: Scenario[]): string {
  const rows = scenarios.map(({ name, outcome, durationMs, orphans }, index) => [
    `<a href="#scenario-${index}">${xmlText(name)}</a>`,
    pageBadge(outcome.kind),
    duration(durationMs),
    String(orphans),
  ])
  return pageTable(["scenario", "result", "duration", "orphans"], rows)
}

function scenarioSection(scenario: Scenario, index: number): string {
  const { name, outcome, durationMs, latencies, memory, counts, notes } = scenario
  const took = `<small>${duration(durationMs)}</small>`
  const heading = `${xmlText(name)} ${pageBadge(outcome.kind)} ${took}`
  return [
    `<section id="scenario-${index}"><h2>${heading}</h2>`,
    outcome.kind === "failed" ? `<pre class="error">${xmlText(outcome.error)}</pre>` : "",
    ...notes.map((note) => `<p class="note">${xmlText(note)}</p>`),
    latencies.length > 0 ? latencyTable(latencies) : "",
    counts.length > 0 ? countTable(counts) : "",
    '<div class="plots">',
    ...memory.filter(({ samples }) => samples.length > 0).map(memoryPlot),
    latencies.length > 0 ? latencyPlot(latencies) : "",
    "</div></section>",
  ].join("\n")
}

function latencyTable(latencies: Latency[]): string {
  const rows = latencies.map(({ what, count, p50Ms, p99Ms, maxMs }) => [
    xmlText(what),
    ...[count, p50Ms, p99Ms, maxMs].map(figure),
  ])
  return pageTable(["latency, ms", "count", "p50", "p99", "max"], rows)
}

function countTable(counts: Scenario["counts"]): string {
  const rows = counts.map(({ what, value }) => [xmlText(what), figure(value)])
  return pageTable(["count", "value"], rows)
}

function latencyPlot(latencies: Latency[]): string {
  return barPlot({
    title: "Latency",
    unit: "ms",
    bars: latencies.flatMap(({ what, p50Ms, p99Ms }) => [
      { name: `${what}, p50`, value: p50Ms },
      { name: `${what}, p99`, value: p99Ms },
    ]),
    isLogarithmic: true,
  })
}

const mostPoints = 400

function memoryPlot({ name, samples }: MemorySeries): string {
  const series = (title: string, mbOf: (sample: MemorySample) => number | undefined) => ({
    name: title,
    points: thinned(
      samples.flatMap((sample): [number, number][] => {
        const mb = mbOf(sample)
        return mb === undefined ? [] : [[sample.atMs / 1000, mb]]
      }),
    ),
  })
  return linePlot({
    title: name === "" ? "Memory" : `Memory, ${name}`,
    xLabel: "seconds",
    yLabel: "MB",
    series: [
      series("keeper RSS", ({ keeper }) => keeper?.rssMb),
      series("gateway RSS", ({ gateway }) => gateway?.rssMb),
      series("PSS of both", (sample) =>
        sample.keeper === null && sample.gateway === null ? undefined : bothPssMb(sample),
      ),
    ],
    limit: { name: "limit of each RSS", y: 100 },
  })
}

/** The highest of each few: a plot of a long run must not hide a peak. */
function thinned(points: [number, number][]): [number, number][] {
  const size = Math.ceil(points.length / mostPoints)
  if (size <= 1) return points
  const groups = Array.from({ length: Math.ceil(points.length / size) }, (_, at) =>
    points.slice(at * size, (at + 1) * size),
  )
  return groups.flatMap((group) => group.toSorted((a, b) => b[1] - a[1]).slice(0, 1))
}
