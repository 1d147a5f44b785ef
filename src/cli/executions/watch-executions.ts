import type { Client } from "../../client/connect.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Context } from "../context.ts"
import { executionTable } from "./execution-table.ts"
import { type ListFilter, listExecutions } from "./list-executions.ts"

const refreshMs = 1_000

/** A line for each execution there is, then one for each change, until the program is ended. */
export async function watchAsLines(
  context: Context,
  client: Client,
  filter: ListFilter & { shown: ListFilter["states"] },
  lineOf: (view: ExecutionView) => string,
): Promise<number> {
  using watch = client.watch(filter.labels)
  await watch.ready
  for (const view of (await listExecutions(client, filter)).toReversed()) {
    await context.stdout.write(`${lineOf(view)}\n`)
  }
  for await (const view of watch) {
    const isWanted = filter.shown === null || filter.shown.includes(view.state)
    if (isWanted) await context.stdout.write(`${lineOf(view)}\n`)
  }
  return 0
}

/** A table that stays in its place, until the program is ended. */
export async function watchAsTable(
  context: Context,
  client: Client,
  filter: ListFilter,
): Promise<number> {
  using watch = client.watch(filter.labels)
  await watch.ready
  const changes = watch[Symbol.asyncIterator]()
  let change = changes.next()
  let height = 0
  for (;;) {
    const lines = fitting(context, await listExecutions(client, filter))
    const up = height === 0 ? "" : `\x1b[${height}A\r\x1b[J`
    await context.stdout.write(`${up}${lines.join("\n")}\n`)
    height = lines.length
    // Counts and times change without a word, so it is looked again every second in any case.
    const hasChanged = await Promise.race([change, Bun.sleep(refreshMs)])
    if (hasChanged !== undefined) change = changes.next()
  }
}

function fitting(context: Context, views: readonly ExecutionView[]): string[] {
  const lines = executionTable(context, views)
  const rows = context.terminalSize()?.rows ?? lines.length + 1
  if (lines.length < rows) return lines
  const shown = lines.slice(0, Math.max(1, rows - 2))
  return [...shown, `… and ${lines.length - shown.length} more`]
}
