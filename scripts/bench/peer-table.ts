import { barPlot } from "../../src/lib/report/svg-plot.ts"
import type { Plot } from "./figure.ts"
import { firstGenerationLinesPerSecond, type Peer } from "./peers.ts"
import { rounded } from "./statistics.ts"

/** Peers side by side, as they are printed and as they are kept. */
export function peerTable(peers: readonly Peer[]): Record<string, string>[] {
  const beside = peers[0]?.linesPerSecond ?? Number.NaN
  return peers.map((peer) => ({
    through: peer.name,
    lines: peer.lineCount.toLocaleString("en"),
    "to the last line": `${rounded(peer.lastLineSeconds)} s`,
    "lines/s": Math.round(peer.linesPerSecond).toLocaleString("en"),
    "× websocketd": String(rounded(peer.linesPerSecond / beside)),
    "server CPU": `${rounded(peer.cpuSeconds)} s`,
    "CPU per million lines": `${rounded(peer.cpuSecondsPerMillionLines)} s`,
    "peak RSS": memoryText(peer),
    "client busy": `${Math.round((peer.clientCpuSeconds / peer.lastLineSeconds) * 100)} %`,
  }))
}

export function peerPlots(peers: readonly Peer[]): Plot[] {
  const named = (value: (peer: Peer) => number) =>
    peers.map((peer) => ({ name: `${peer.name}${sizeNote(peer, peers)}`, value: value(peer) }))
  const reference = {
    name: "first generation (reference)",
    value: firstGenerationLinesPerSecond,
  }
  return [
    plotOf("peers-lines.svg", {
      title: "Lines per second of the same child to the same client",
      unit: "lines/s",
      bars: [reference, ...named((peer) => peer.linesPerSecond)],
      isLogarithmic: true,
    }),
    plotOf("peers-cpu.svg", {
      title: "Server CPU per million lines",
      unit: "seconds",
      bars: named((peer) => peer.cpuSecondsPerMillionLines),
      isLogarithmic: true,
    }),
    plotOf("peers-memory.svg", {
      title: "Peak memory of the server",
      unit: "MB (RSS; keeper + gateway, which share pages)",
      bars: named((peer) => peer.peakRssMb),
    }),
  ]
}

function plotOf(file: string, plot: Parameters<typeof barPlot>[0]): Plot {
  return { file, title: plot.title, svg: barPlot(plot) }
}

/** Two rows of one name differ in how much they carried. */
function sizeNote(peer: Peer, peers: readonly Peer[]): string {
  const isAlone = peers.filter(({ name }) => name === peer.name).length === 1
  return isAlone ? "" : `, ${rounded(peer.lineCount / 1e6)}M lines`
}

function memoryText({ peakRssMb, peaks }: Peer): string {
  if (peaks === null) return `${rounded(peakRssMb)} MB`
  return `${rounded(peaks.keeper)} + ${rounded(peaks.gateway)} MB`
}
