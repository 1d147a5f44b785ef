import type { Distribution, MetricSample, MetricSamples } from "../../protocol/metric-samples.ts"

export type MetricDescription = { type: "counter" | "gauge" | "histogram"; help: string }

export const textFormatType = "text/plain; version=0.0.4; charset=utf-8"

/**
 * What both processes tell, as Prometheus reads it. A name may come from each of them and is told
 * once; one that nobody has described is left out, as nobody would know what it means.
 */
export function textFormat(
  told: readonly MetricSamples[],
  catalogue: Readonly<Record<string, MetricDescription>>,
): string {
  const byName = Map.groupBy(told, ({ name }) => name)
  return Object.entries(catalogue)
    .flatMap(([name, { type, help }]) => {
      const samples = byName.get(name)?.flatMap((one) => one.samples) ?? []
      if (samples.length === 0) return []
      const about = [`# HELP ${name} ${helpText(help)}`, `# TYPE ${name} ${type}`]
      return [...about, ...samples.flatMap((sample) => sampleLines(name, sample))]
    })
    .map((line) => `${line}\n`)
    .join("")
}

function sampleLines(name: string, sample: MetricSample): string[] {
  if ("value" in sample) return [`${name}${labelText(sample.labels)} ${numberText(sample.value)}`]
  return distributionLines(name, sample)
}

/** Buckets count everything up to their bound; the last one, without a bound, counts it all. */
function distributionLines(name: string, { labels, bounds, counts, sum }: Distribution): string[] {
  let total = 0
  const buckets = [...bounds, Infinity].map((bound, at) => {
    total += counts[at] ?? 0
    return `${name}_bucket${labelText({ ...labels, le: numberText(bound) })} ${total}`
  })
  const own = labelText(labels)
  return [...buckets, `${name}_sum${own} ${numberText(sum)}`, `${name}_count${own} ${total}`]
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`
}

function escaped(value: string): string {
  return helpText(value).replaceAll('"', '\\"')
}

function helpText(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN"
  if (Number.isFinite(value)) return String(value)
  return value > 0 ? "+Inf" : "-Inf"
}
