import { barPlot, linePlot } from "../../../scripts/svg-plot.ts"
import { bothPssMb } from "./both-pss.ts"
import { duration, figure, memoryPeaks, orphansOf, passRate, type Report } from "./report.ts"
import { pageStyle } from "./report-page-style.ts"
import type { Latency, MemorySample, MemorySeries, Scenario } from "./scenario.ts"

/** The report as one page that needs nothing from anywhere. */
export function reportAsPage(report: Report): string {
  const { scenarios } = report
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Stress report</title><style>${pageStyle}</style></head><body><main>`,
    `<header><h1>Stress report</h1><p>${escaped(subtitle(report))}</p></header>`,
    tiles(report),
    `<section><h2>Scenarios</h2>${scenarioTable(scenarios)}</section>`,
    ...scenarios.map(scenarioSection),
    "</main></body></html>\n",
  ].join("\n")
}

function subtitle({ mode, seed, machine, scenarios }: Report): string {
  const when = scenarios[0]?.startedAt.replace("T", " ").slice(0, 16) ?? ""
  return [`${when} UTC`, `${mode} mode`, `seed ${seed}`, machine].join(" · ")
}

function tiles(report: Report): string {
  const { passed, of, percent } = passRate(report)
  const peaks = report.scenarios.flatMap(({ memory }) => memory.map(memoryPeaks))
  const most = (values: number[]) => `${figure(values.reduce((a, b) => Math.max(a, b), 0))} MB`
  const orphans = orphansOf(report)
  const all: [label: string, value: string, tone: string][] = [
    [`${passed} of ${of} passed`, `${figure(percent)} %`, passed === of ? "good" : "bad"],
    ["orphans found", String(orphans), orphans === 0 ? "good" : "bad"],
    ["keeper, most RSS", most(peaks.map(({ keeperRssMb }) => keeperRssMb)), ""],
    ["gateway, most RSS", most(peaks.map(({ gatewayRssMb }) => gatewayRssMb)), ""],
    ["both, most PSS", most(peaks.map((peak) => peak.bothPssMb)), ""],
  ]
  const texts = all.map(
    ([label, value, tone]) =>
      `<div class="tile ${tone}"><b>${value}</b><span>${label}</span></div>`,
  )
  return `<div class="tiles">${texts.join("")}</div>`
}

function scenarioTable(scenarios: Scenario[]): string {
  const rows = scenarios.map(({ name, outcome, durationMs, orphans }, index) => [
    `<a href="#scenario-${index}">${escaped(name)}</a>`,
    badge(outcome.kind),
    duration(durationMs),
    String(orphans),
  ])
  return table(["scenario", "result", "duration", "orphans"], rows)
}

function scenarioSection(scenario: Scenario, index: number): string {
  const { name, outcome, durationMs, latencies, memory, counts, notes } = scenario
  const heading = `${escaped(name)} ${badge(outcome.kind)} <small>${duration(durationMs)}</small>`
  return [
    `<section id="scenario-${index}"><h2>${heading}</h2>`,
    outcome.kind === "failed" ? `<pre class="error">${escaped(outcome.error)}</pre>` : "",
    ...notes.map((note) => `<p class="note">${escaped(note)}</p>`),
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
    escaped(what),
    ...[count, p50Ms, p99Ms, maxMs].map(figure),
  ])
  return table(["latency, ms", "count", "p50", "p99", "max"], rows)
}

function countTable(counts: Scenario["counts"]): string {
  const rows = counts.map(({ what, value }) => [escaped(what), figure(value)])
  return table(["count", "value"], rows)
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

function table(head: string[], rows: string[][]): string {
  const cells = (tag: string, row: string[]) =>
    `<tr>${row.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`
  const body = rows.map((row) => cells("td", row)).join("")
  return (
    `<div class="scroll"><table><thead>${cells("th", head)}</thead>` +
    `<tbody>${body}</tbody></table></div>`
  )
}

function badge(kind: Scenario["outcome"]["kind"]): string {
  return `<span class="badge ${kind}">${kind}</span>`
}

function escaped(text: string): string {
  return Bun.escapeHTML(text.toWellFormed())
}
