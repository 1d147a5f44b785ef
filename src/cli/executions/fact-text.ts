import type { Redacted, StoppedProcess } from "../../execution/record.ts"
import type { LimitHolder } from "../../execution/spec.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { durationText } from "../time.ts"

/** What an execution and its receipt tell in the same words; null where there is nothing. */
export function redactedText(redacted: Redacted | null | undefined): string | null {
  const counts = Object.entries(redacted ?? {}).filter(([, count]) => count > 0)
  if (counts.length === 0) return null
  const places = counts.map(
    ([where, count]) => `${count} in ${where === "spec" ? "the request" : where}`,
  )
  return places.join(", ")
}

export function processText(processes: readonly StoppedProcess[]): string | null {
  if (processes.length === 0) return null
  return processes
    .map(({ pid, signal, ms }) => `${pid} by ${signal} after ${durationText(ms)}`)
    .join(", ")
}

export function labelText(labels: Record<string, string>): string | null {
  const pairs = Object.entries(labels).map(([name, value]) => onOneLine(`${name}=${value}`))
  return pairs.length === 0 ? null : pairs.join(" ")
}

/** What holds a limit, after the limit. */
export function heldBy(holder: LimitHolder | null): string {
  return holder === null ? "" : ` by ${holder}`
}
