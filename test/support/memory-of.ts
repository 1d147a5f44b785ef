import { readFileSync } from "node:fs"

/** What a process holds in memory, and the most it ever held, in MiB. */
export function memoryOf(pid: number): { nowMb: number; peakMb: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const mebibytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1024
  return { nowMb: mebibytes("VmRSS"), peakMb: mebibytes("VmHWM") }
}

/** What is this process's alone. */
export function privateMbOf(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")
  const kilobytes = [...rollup.matchAll(/^Private_\w+:\s+(\d+) kB$/gm)].map(([, kb]) => Number(kb))
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024
}
