import { xmlText } from "./xml-text.ts"

/** A point that is not a number is left out. */
export type LinePlot = {
  title: string
  xLabel: string
  yLabel: string
  series: { name: string; points: [x: number, y: number][] }[]
  limit?: { name: string; y: number }
}

export type BarPlot = {
  title: string
  unit: string
  bars: { name: string; value: number }[]
  isLogarithmic?: boolean
}

type Scale = { ticks: number[]; share: (value: number) => number }

const width = 720
const fontSize = 13
const characterWidth = 7.6
const rowHeight = 20
// Told apart by people who see few colours, and readable on white and on near-black.
const colours = ["#3b82d6", "#e0762f", "#3a9e62", "#b064c4", "#c9a227", "#d6505a", "#3aa6a6"]
const limitColour = "#d6505a"

const style = `<style>
.plot-paper{fill:#ffffff}.plot-text{fill:#24292f}
.plot-grid{stroke:#d0d7de}.plot-axis{stroke:#57606a}
@media (prefers-color-scheme:dark){.plot-paper{fill:#161b22}.plot-text{fill:#e6edf3}
.plot-grid{stroke:#30363d}.plot-axis{stroke:#8b949e}}
</style>`

/** Values over something, most often time, with the y axis from zero. */
export function linePlot(plot: LinePlot): string {
  const series = plot.series.map(({ name, points }) => ({
    name,
    points: points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y)),
  }))
  const points = series.flatMap((one) => one.points)
  const xScale = scaleWithin(points.map(([x]) => x))
  const yScale = scaleFromZero([...points.map(([, y]) => y), ...(plot.limit ? [plot.limit.y] : [])])
  const entries = legendEntries(plot)
  const legend = legendOf(entries)
  const box = { left: 72, right: width - 24, top: 48 + legend.height, bottom: 320 + legend.height }
  const placeX = (x: number) => box.left + xScale.share(x) * (box.right - box.left)
  const placeY = (y: number) => box.bottom - yScale.share(y) * (box.bottom - box.top)

  const parts = [legend.text]
  for (const tick of yScale.ticks) {
    const y = placeY(tick)
    parts.push(line("plot-grid", box.left, y, box.right, y))
    parts.push(text(box.left - 8, y + 4, shortNumber(tick), "end"))
  }
  for (const tick of xScale.ticks) {
    const x = placeX(tick)
    parts.push(line("plot-axis", x, box.bottom, x, box.bottom + 5))
    parts.push(text(x, box.bottom + 20, shortNumber(tick), "middle"))
  }
  parts.push(line("plot-axis", box.left, box.bottom, box.right, box.bottom))
  parts.push(text((box.left + box.right) / 2, box.bottom + 42, plot.xLabel, "middle"))
  const middle = (box.top + box.bottom) / 2
  parts.push(text(18, middle, plot.yLabel, "middle", ` transform="rotate(-90 18 ${middle})"`))
  series.forEach((one, at) => {
    const path = one.points.map(([x, y]) => `${short(placeX(x))},${short(placeY(y))}`).join(" ")
    parts.push(curve(path, one.points.length === 1, colourOf(at)))
  })
  if (plot.limit) {
    const at = placeY(plot.limit.y)
    const dashed = ` style="stroke:${limitColour}" stroke-dasharray="6 4" stroke-width="1.5"`
    parts.push(line("plot-limit", box.left, at, box.right, at, dashed))
  }
  if (points.length === 0) parts.push(text((box.left + box.right) / 2, middle, "no data", "middle"))
  return document(plot.title, box.bottom + 56, parts)
}

/** One bar a row: names of any length stay readable, and the value stands at the bar's end. */
export function barPlot(plot: BarPlot): string {
  const values = plot.bars.map(({ value }) => value).filter(Number.isFinite)
  const scale = plot.isLogarithmic === true ? logarithmicScale(values) : scaleFromZero(values)
  const longest = Math.max(0, ...plot.bars.map(({ name }) => name.length))
  const barHeight = 28
  const box = { left: Math.min(340, 24 + longest * characterWidth), right: width - 96, top: 48 }
  const bottom = box.top + Math.max(1, plot.bars.length) * barHeight
  const placeX = (value: number) => box.left + scale.share(value) * (box.right - box.left)

  const parts: string[] = []
  for (const tick of scale.ticks) {
    parts.push(line("plot-grid", placeX(tick), box.top, placeX(tick), bottom))
    parts.push(text(placeX(tick), bottom + 18, shortNumber(tick), "middle"))
  }
  plot.bars.forEach(({ name, value }, at) => {
    const y = box.top + at * barHeight
    const length = Number.isFinite(value) ? Math.max(0, placeX(value) - box.left) : 0
    const size = `width="${short(length)}" height="${barHeight - 8}"`
    parts.push(`<rect x="${short(box.left)}" y="${y + 4}" ${size} fill="${colourOf(at)}"/>`)
    parts.push(text(box.left - 8, y + 19, name, "end"))
    const told = Number.isFinite(value) ? shortNumber(value) : "no data"
    parts.push(text(box.left + length + 6, y + 19, told, "start"))
  })
  parts.push(line("plot-axis", box.left, box.top, box.left, bottom))
  const unit = plot.isLogarithmic === true ? `${plot.unit} (logarithmic)` : plot.unit
  parts.push(text((box.left + box.right) / 2, bottom + 40, unit, "middle"))
  if (plot.bars.length === 0) parts.push(text(width / 2, box.top + 19, "no data", "middle"))
  return document(plot.title, bottom + 54, parts)
}

function scaleWithin(values: readonly number[]): Scale {
  const least = lowest(values, 0)
  const most = highest(values, 1)
  const span = most > least ? most - least : 1
  const step = roundStep(span / 8)
  const ticks: number[] = []
  const end = least + span * (1 + 1e-9)
  for (let at = Math.ceil(least / step - 1e-9); at * step <= end; at++) {
    ticks.push(at * step)
  }
  return { ticks, share: (value) => (value - least) / span }
}

/** The ends are ticks, so that the highest value is never drawn above the last line. */
function scaleFromZero(values: readonly number[]): Scale {
  const least = Math.min(0, lowest(values, 0))
  const most = Math.max(0, highest(values, 0))
  const step = roundStep((most > least ? most - least : 1) / 5)
  const first = Math.floor(least / step)
  const last = Math.max(first + 1, Math.ceil(most / step - 1e-9))
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step)
  return { ticks, share: (value) => (value / step - first) / (last - first) }
}

/** Powers of ten. What is not above zero has no place on it, and is drawn as nothing. */
function logarithmicScale(values: readonly number[]): Scale {
  const above = values.filter((value) => value > 0)
  // One below the least, or the least would have no length.
  const first = Math.ceil(Math.log10(lowest(above, 1)) - 1e-9) - 1
  const last = Math.max(first + 1, Math.ceil(Math.log10(highest(above, 1)) - 1e-9))
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at))
  const share = (value: number) => (value > 0 ? (Math.log10(value) - first) / (last - first) : 0)
  return { ticks, share }
}

/** 1, 2 or 5 times a power of ten, at least this large. */
function roundStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast))
  const factor = [1, 2, 5, 10].find((each) => each * power >= atLeast * (1 - 1e-9)) ?? 10
  return factor * power
}

// Not Math.min(...values): a long run has more samples than a call may have arguments.
function lowest(values: readonly number[], otherwise: number): number {
  return values.reduce((least, value) => Math.min(least, value), values[0] ?? otherwise)
}

function highest(values: readonly number[], otherwise: number): number {
  return values.reduce((most, value) => Math.max(most, value), values[0] ?? otherwise)
}

function shortNumber(value: number): string {
  const size = Math.abs(value)
  for (const [at, suffix] of [[1e9, "G"] as const, [1e6, "M"] as const, [1e3, "k"] as const]) {
    if (size >= at * 0.9995) return `${Number((value / at).toPrecision(3))}${suffix}`
  }
  return String(Number(value.toPrecision(3))) // 3 × 0.1 is 0.30000000000000004
}

type LegendEntry = { name: string; colour: string }

function legendEntries(plot: LinePlot): LegendEntry[] {
  const entries = plot.series.map(({ name }, at) => ({ name, colour: colourOf(at) }))
  return plot.limit ? [...entries, { name: plot.limit.name, colour: limitColour }] : entries
}

function legendOf(entries: readonly LegendEntry[]): { text: string; height: number } {
  let x = 72
  let row = 0
  const parts = entries.map(({ name, colour }) => {
    const entryWidth = 36 + name.length * characterWidth
    if (x > 72 && x + entryWidth > width - 24) {
      x = 72
      row += 1
    }
    const y = 48 + row * rowHeight
    const mark = `<rect x="${x}" y="${y - 8}" width="14" height="6" fill="${colour}"/>`
    const told = mark + text(x + 20, y, name, "start")
    x += entryWidth
    return told
  })
  return { text: parts.join("\n"), height: (row + 1) * rowHeight }
}

function curve(path: string, isPoint: boolean, colour: string): string {
  if (path === "") return ""
  // A line of one point shows nothing; round ends make it a dot.
  const points = isPoint ? `${path} ${path}` : path
  const pen = `stroke-width="${isPoint ? 5 : 1.8}" stroke-linecap="round" stroke-linejoin="round"`
  return `<polyline points="${points}" fill="none" stroke="${colour}" ${pen}/>`
}

function line(kind: string, x1: number, y1: number, x2: number, y2: number, more = ""): string {
  const ends = `x1="${short(x1)}" y1="${short(y1)}" x2="${short(x2)}" y2="${short(y2)}"`
  return `<line class="${kind}" ${ends}${more}/>`
}

function text(x: number, y: number, words: string, anchor: string, more = ""): string {
  const place = `x="${short(x)}" y="${short(y)}" text-anchor="${anchor}"${more}`
  return `<text class="plot-text" ${place}>${xmlText(words)}</text>`
}

function document(title: string, height: number, parts: readonly string[]): string {
  const font = `font-family="system-ui,sans-serif" font-size="${fontSize}"`
  const size = `width="${width}" height="${short(height)}" viewBox="0 0 ${width} ${short(height)}"`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font} role="img">`,
    `<title>${xmlText(title)}</title>`,
    style,
    `<rect class="plot-paper" width="${width}" height="${short(height)}" rx="6"/>`,
    text(width / 2, 26, title, "middle", ' font-weight="600"'),
    ...parts.filter((part) => part !== ""),
    "</svg>\n",
  ].join("\n")
}

function colourOf(at: number): string {
  return colours[at % colours.length] ?? limitColour
}

function short(value: number): number {
  return Math.round(value * 10) / 10
}
