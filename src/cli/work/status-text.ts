import type { WorkStatus } from "../../workflow/run/work-status.ts"
import type { Context } from "../context.ts"
import { coloursFor } from "../terminal/colours.ts"
import { renderTable } from "../terminal/table.ts"
import type { Text } from "../terminal/terminal-text.ts"

const words: Record<string, string> = {
  verified: "✅ verified",
  failed: "failed",
  warned: "◔ not proven",
  "under-way": "◔ under way",
  outdated: "outdated",
  unattested: "unattested",
  accepted: "accepted",
  open: "open",
}

export function taskTable(context: Context, { tasks = [] }: WorkStatus): Text[] {
  const { green, yellow, red, cyan } = coloursFor(context.stdout, context.env)
  const paints = new Map([
    ["verified", green],
    ["accepted", green],
    ["failed", red],
    ["open", (text: string) => text],
  ])
  const rows = tasks.map(({ id, title, state, trial, checks }) => [
    { text: id, paint: cyan },
    { text: words[state] ?? state, paint: paints.get(state) ?? yellow },
    { text: trial === null ? "" : `${trial}` },
    { text: checks.length === 0 ? "no check" : checks.join("; ") },
    { text: title },
  ])
  return renderTable(["TASK", "STATE", "TRIAL", "CHECK", "TITLE"], rows, context.stdout.width())
}

/** `10:1, at least 62 % (95 %), $0.12 a success`. */
export function countsText(status: WorkStatus): string {
  const { success, failure, warned, broken, interval_95: interval } = status
  const parts = [
    `${success}:${failure}`,
    `95 %: ${percent(interval.low)}–${percent(interval.high)}`,
    ...(warned === 0 ? [] : [`${warned} not proven`]),
    ...(broken === 0 ? [] : [`${broken} broken`]),
    ...(status.cost_per_success_usd === null
      ? []
      : [`$${status.cost_per_success_usd.toFixed(2)} a success`]),
  ]
  return parts.join(", ")
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
