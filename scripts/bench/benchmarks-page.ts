import type { Plot } from "./figure.ts"
import { figureTable } from "./figure-table.ts"
import type { MeasuredPart } from "./parts.ts"
import { peerPlots, peerTable } from "./peer-table.ts"
import { firstGenerationLinesPerSecond, lineCounts, type Peer, rounds } from "./peers.ts"
import { rounded } from "./statistics.ts"

export type Benchmarks = {
  machine: string
  date: Date
  websocketdVersion: string
  peers: readonly Peer[]
  parts: readonly MeasuredPart[]
}

export type PageFile = { path: string; text: string }

/** docs/benchmarks.md and its plots, made from one run. */
export function benchmarksPage(run: Benchmarks): PageFile[] {
  const plots = [...peerPlots(run.peers), ...run.parts.flatMap((part) => part.plots)]
  return [
    { path: "docs/benchmarks.md", text: page(run) },
    ...plots.map(({ file, svg }) => ({ path: `docs/benchmarks/${file}`, text: svg })),
  ]
}

const columns = 100

function page(run: Benchmarks): string {
  const sections = [
    "# Benchmarks",
    "<!-- Written by `bun run bench:peers --write`: run it again instead of changing it. -->",
    "One run on one machine; only what stands in one table was measured side by side.",
    `- machine: ${run.machine}
- date: ${run.date.toISOString().slice(0, 10)}
- everything on loopback; server, child and client share the processors`,
    "## Beside websocketd",
    ...peersText(run).map(wrapped),
    markdownTable(peerTable(run.peers)),
    wrapped(verdict(run.peers)),
    ...pictures(peerPlots(run.peers)),
    "## Beside a bare floor",
    wrapped(`\`bun run bench\` prints these. An aim is a share or a multiple of the floor, or a
      plain bound; where it is not reached, the table says so.`),
    ...run.parts.flatMap(({ name, about, figures, plots }) => [
      `### ${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      wrapped(about),
      markdownTable(figureTable(figures)),
      ...pictures(plots),
    ]),
  ]
  return `${sections.join("\n\n")}\n`
}

function peersText({ websocketdVersion }: Benchmarks): string[] {
  const few = lineCounts.websocketd.toLocaleString("en")
  const many = lineCounts.project.toLocaleString("en")
  return [
    `The same child, \`seq 1 N\`, to the same client program through
      [websocketd](http://websocketd.com) (Debian package ${websocketdVersion}, one frame per line)
      and through the project, in turn, ${rounds} rounds after one that does not count. The client
      is a process of its own, parses all it gets and compares every line with what it must be.`,
    `N is ${few} for websocketd and ${many} for the project, so that each runs for seconds: compare
      the rates. The last row is the project with websocketd's N, where connecting and
      starting the child are much of the time. Times and rates are medians. CPU is of the servers
      (websocketd; keeper and gateway together), without the child and the client. Peak RSS is
      \`VmHWM\` after all rounds, keeper + gateway. The project also writes every byte to a
      record with a hash chain before it is sent; websocketd keeps nothing.`,
  ]
}

function verdict(peers: readonly Peer[]): string {
  const [websocketd, utf8] = peers
  const times = (utf8?.linesPerSecond ?? 0) / (websocketd?.linesPerSecond ?? 1)
  const first = Math.round((utf8?.linesPerSecond ?? 0) / firstGenerationLinesPerSecond)
  const reference = firstGenerationLinesPerSecond.toLocaleString("en")
  const reached = times >= 100 ? "reached" : "not reached"
  return `JSON text frames: ${rounded(times)} × websocketd in lines per second (aim: 100 ×,
    ${reached}), and ${first} × the ${reference} lines per second known of the project's first
    generation: a reference, not measured here.`
}

function pictures(plots: readonly Plot[]): string[] {
  return plots.map(({ file, title }) => `![${title}](benchmarks/${file})`)
}

function markdownTable(rows: readonly Record<string, string>[]): string {
  const names = Object.keys(rows[0] ?? {})
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`.replaceAll("|  ", "| ")
  return [
    line(names),
    line(names.map((_, at) => (at === 0 ? "---" : "---:"))),
    ...rows.map((row) => line(names.map((name) => row[name] ?? ""))),
  ].join("\n")
}

function wrapped(text: string): string {
  let column = 0
  return text
    .trim()
    .split(/\s+/)
    .reduce((lines, word) => {
      const fits = column + 1 + word.length <= columns
      column = fits ? column + 1 + word.length : word.length
      return lines === "" ? word : `${lines}${fits ? " " : "\n"}${word}`
    }, "")
}
