import { lineEndOf } from "../documents/lines.ts"
import type { Prompt } from "../documents/prompt.ts"
import type { Region } from "../documents/regions.ts"
import type { LedgerSummary } from "../ledger/summary.ts"
import type { Edit } from "./edit.ts"
import { metricsLines } from "./metrics-text.ts"
import { beginMarker, endMarker, regionEdits } from "./region-edit.ts"

/** Of the region with the metrics; where there is none yet, a trial makes it. */
export function promptEdits(prompt: Prompt, summary: LedgerSummary): Edit[] {
  if (prompt.regions.some(({ name }) => name === "metrics")) {
    return regionEdits(prompt, "metrics", (region) => metricsLines(prompt, summary, region))
  }
  const isTried = summary.trials.length + summary.damages.length > 0
  return isTried ? [insertedMetrics(prompt, summary)] : []
}

function insertedMetrics(prompt: Prompt, summary: LedgerSummary): Edit {
  const { text } = prompt
  const lineEnd = lineEndOf(text)
  const lines = [beginMarker("metrics"), ...metricsLines(prompt, summary, newRegion), endMarker]
  const at = placeOfMetrics(prompt)
  const isAtEnd = at === text.length && text !== "" && !text.endsWith("\n")
  const region = lines.join(lineEnd)
  return { start: at, end: at, text: isAtEnd ? lineEnd + region : region + lineEnd }
}

const newRegion: Region = {
  name: "metrics",
  attributes: new Map(),
  start: 0,
  end: 0,
  firstLine: 0,
  lastLine: 0,
}

/** Below the heading that is about it, else at the end. */
export function placeOfMetrics({ lines, text }: Prompt): number {
  const heading = lines.find(
    (line) => line.kind === "prose" && /^#{1,6}\s(?:.*\s)?METRICS\b/i.test(line.text),
  )
  if (heading !== undefined && heading.next > heading.end) return heading.next
  const last = lines.at(-1)
  if (last?.isOpen !== true) return text.length
  // At the end it would be part of code, or of a comment, that was never closed.
  const body = lines.find(({ kind }) => kind !== "front-matter")
  return body?.start ?? text.length
}
