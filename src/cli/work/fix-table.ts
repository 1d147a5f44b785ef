import type { WorkStatus } from "../../workflow/run/work-status.ts"
import type { Context } from "../context.ts"
import { coloursFor } from "../terminal/colours.ts"
import { renderTable } from "../terminal/table.ts"
import type { Text } from "../terminal/terminal-text.ts"

/** What became of every fix of a list, as its ledger shows it. */
export function fixTable(context: Context, { tasks = [] }: WorkStatus): Text[] {
  const { green, yellow, red, cyan } = coloursFor(context.stdout, context.env)
  const rows = tasks.map(({ id, severity, status, state, trial, checks, title }) => [
    { text: id, paint: cyan },
    { text: severity ?? "" },
    {
      text: status ?? (checks.length === 0 ? "needs a command" : state),
      paint: status === "FAILED" ? red : status === null ? yellow : green,
    },
    { text: trial === null ? "" : `${trial}` },
    { text: checks.length === 0 ? "prose" : checks.join("; ") },
    { text: title },
  ])
  const heads = ["FIX", "SEVERITY", "STATUS", "TRIAL", "VERIFICATION", "ISSUE"]
  return renderTable(heads, rows, context.stdout.width())
}
