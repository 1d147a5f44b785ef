import { readdirSync, readFileSync } from "node:fs"
import { isErrno } from "../../lib/errno.ts"
import type { MetricSamples } from "../../protocol/metric-samples.ts"

/** What this process takes of the machine; what cannot be read is left out. */
export function processFigures(process: "keeper" | "gateway"): MetricSamples[] {
  const labels = { process }
  const one = (name: string, value: number | null): MetricSamples => ({
    name: `cc_executor_process_${name}`,
    samples: value === null ? [] : [{ labels, value }],
  })
  return [
    one("resident_memory_bytes", globalThis.process.memoryUsage.rss()),
    one("cpu_seconds_total", cpuSeconds()),
    one("open_fds", openDescriptors()),
    one("max_fds", mostDescriptors()),
    one("start_time_seconds", startedAtSeconds),
  ]
}

const startedAtSeconds = Math.round(performance.timeOrigin) / 1000

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000
}

function openDescriptors(): number | null {
  try {
    return readdirSync("/proc/self/fd").length - 1 // the one by which they are listed
  } catch (error) {
    // With every descriptor taken there is none to count them with.
    if (isErrno(error, "ENOENT", "EACCES", "EMFILE", "ENFILE")) return null
    throw error
  }
}

function mostDescriptors(): number | null {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8")
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
    return soft === undefined ? null : Number(soft)
  } catch (error) {
    if (isErrno(error, "ENOENT", "EACCES", "EMFILE", "ENFILE")) return null
    throw error
  }
}
