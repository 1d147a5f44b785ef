import { readFileSync } from "node:fs"

export type Memory = { rssMb: number; pssMb: number }

const ticksPerSecond = 100

/** All threads of the process, none of its children. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "latin1")
  return { rssMb: megabytes(text, "Rss"), pssMb: megabytes(text, "Pss") }
}

/** The most it ever held. */
export function peakRssMbOf(pid: number): number {
  return megabytes(readFileSync(`/proc/${pid}/status`, "latin1"), "VmHWM")
}

function megabytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1]) / 1024
}
