import type { Client } from "../../client/connect.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Context } from "../context.ts"
import { asLines, erasedFrom, type Text } from "../terminal/terminal-text.ts"
import { executionTable } from "./execution-table.ts"
import { type ListFilter, listExecutions } from "./list-executions.ts"
import { WatchedRows } from "./watched-rows.ts"

/** A line for each execution there is, then one for each change, until the program is ended. */
export async function watchAsLines(
  context: Context,
  client: Client,
  filter: ListFilter & { shown: ListFilter["states"] },
  lineOf: (view: ExecutionView) => Text,
): Promise<number> {
  using watch = client.watch(filter.labels)
  await watch.ready
  for (const view of (await listExecutions(client, filter)).toReversed()) {
    await context.stdout.write(asLines([lineOf(view)]))
  }
  for await (const view of watch) {
    const isWanted = filter.shown === null || filter.shown.includes(view.state)
    if (isWanted) await context.stdout.write(asLines([lineOf(view)]))
  }
  return 0
}

/** A table that stays in its place, until the program is ended. */
export async function watchAsTable(
  context: Context,
  client: Client,
  filter: ListFilter,
): Promise<number> {
  using rows = await WatchedRows.begin(context, client, filter)
  let height = 0
  for (;;) {
    const lines = fitting(context, await rows.look())
    await context.stdout.write([erasedFrom(height), asLines(lines)])
    height = lines.length
    await rows.untilWorthALook()
  }
}

function fitting(context: Context, views: readonly ExecutionView[]): Text[] {
  const lines = executionTable(context, views)
  const rows = context.terminalSize()?.rows ?? lines.length + 1
  if (lines.length < rows) return lines
  const shown = lines.slice(0, Math.max(1, rows - 2))
  return [...shown, `… and ${lines.length - shown.length} more`]
}
