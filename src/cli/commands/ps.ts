import type { Client } from "../../client/connect.ts"
import { liveStates, StateKind } from "../../execution/state.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { type Arguments, flag, option, readPairs, repeatable } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOf, addressOptions } from "../connect/address.ts"
import { tryReach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { executionTable } from "../executions/execution-table.ts"
import { type ListFilter, listExecutions } from "../executions/list-executions.ts"
import { watchAsLines, watchAsTable } from "../executions/watch-executions.ts"
import { UsageFailure } from "../failure.ts"
import { isLively } from "../terminal/colours.ts"
import { countOption } from "../time.ts"

const options = {
  all: flag("include executions that have ended", { short: "a" }),
  watch: flag("keep running, and show every change", { short: "w" }),
  state: repeatable("STATE", `only in this state: ${StateKind.options.join(", ")}`, {
    choices: StateKind.options,
  }),
  label: repeatable("NAME=VALUE", "only those with this label", { short: "l" }),
  limit: option("N", "at most the newest N", { short: "n" }),
  quiet: flag("only print ids", { short: "q" }),
  json: flag("one JSON document; with --watch, one per line"),
  ...addressOptions,
}

type PsValues = Arguments<typeof options>["values"]

export const psCommand = command({
  usage: ["ps [OPTIONS]"],
  about: `\
AGE is the time since the request, TIME the running time without pauses, OUTPUT the size of the
output. EXIT is the exit code, or what ended the execution instead.`,
  options,
  examples: {
    "what is running now": "cc-executor ps",
    "the last ten, ended or not": "cc-executor ps -a -n 10",
    "follow all changes as JSON lines": "cc-executor ps --watch --json",
  },
  async run(context, { values }) {
    const filter = filterOf(values)
    const looksBack = filter.states === null || filter.states.includes("ended")
    // What runs, runs in a service: without one there is nothing to see, unless it is the past.
    const start = looksBack ? "with-journal" : "never"
    const reached = await tryReach(context, addressOf(context, values), start)
    if (reached === null) {
      await context.stdout.write(shown(context, values, []))
      await context.stderr.write(
        "No service is running. `cc-executor run -- COMMAND` starts one.\n",
      )
      return 0
    }
    await using _reached = reached
    const { client } = reached
    if (values.watch === true) return await watch(context, values, client, filter)
    await context.stdout.write(shown(context, values, await listExecutions(client, filter)))
    return 0
  },
})

function filterOf(values: PsValues): ListFilter {
  const states = values.state?.map((state) => {
    const known = StateKind.safeParse(state)
    if (known.success) return known.data
    throw new UsageFailure(`Unknown state: ${state}. Use ${StateKind.options.join(", ")}.`)
  })
  const limit = values.limit === undefined ? undefined : countOption("--limit", values.limit)
  return {
    states: states ?? (values.all === true ? null : liveStates),
    labels: readPairs("--label", values.label),
    limit: limit ?? Number.POSITIVE_INFINITY,
  }
}

function shown(context: Context, values: PsValues, views: readonly ExecutionView[]): string {
  if (values.json === true) return `${JSON.stringify({ executions: views }, null, 2)}\n`
  if (values.quiet === true) return views.map((view) => `${view.execution_id}\n`).join("")
  return `${executionTable(context, views).join("\n")}\n`
}

function watch(
  context: Context,
  values: PsValues,
  client: Client,
  filter: ListFilter,
): Promise<number> {
  const isTable = values.json !== true && values.quiet !== true
  if (isTable && isLively(context.stdout, context.env)) return watchAsTable(context, client, filter)
  // Whoever asked for no state wants to know of ends, too: what runs is all that is listed first.
  const states = values.state === undefined ? null : filter.states
  return watchAsLines(context, client, { ...filter, shown: states }, (view) => {
    if (values.json === true) return JSON.stringify(view)
    if (values.quiet === true) return view.execution_id
    return executionTable(context, [view]).at(-1) ?? ""
  })
}
