import type { Client } from "../../client/connect.ts"
import { liveStates, StateKind } from "../../execution/state.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { NoticeOutput } from "../agents/view/notice-output.ts"
import { type Arguments, flag, option, readPairs, repeatable } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOf, addressOptions } from "../connect/address.ts"
import { noServiceText, reach, tryReach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { executionTable } from "../executions/execution-table.ts"
import { type ListFilter, listExecutions } from "../executions/list-executions.ts"
import { watchAsLines, watchAsTable } from "../executions/watch-executions.ts"
import { changesOf } from "../executions/worktree-changes.ts"
import { UsageFailure } from "../failure.ts"
import { isLively } from "../terminal/colours.ts"
import { detachSequence } from "../terminal/detach-keys.ts"
import type { EndingSignal } from "../terminal/interrupts.ts"
import { asLines, type Text } from "../terminal/terminal-text.ts"
import { countOption } from "../time.ts"
import { attach } from "./attach.ts"

const options = {
  all: flag("include executions that have ended", { short: "a" }),
  watch: flag("keep running, and show every change", { short: "w" }),
  interactive: flag("a list to move in: attach, see logs, cancel, pause, filter", { short: "i" }),
  state: repeatable("STATE", `only in this state: ${StateKind.options.join(", ")}`, {
    choices: StateKind.options,
  }),
  label: repeatable("NAME=VALUE", "only those with this label", { short: "l" }),
  changes: flag("show what has changed in the worktrees of sessions, and their turns"),
  limit: option("N", "at most the newest N", { short: "n" }),
  quiet: flag("only print ids", { short: "q" }),
  json: flag("one JSON document; with --watch, one per line"),
  ...addressOptions,
}

type PsValues = Arguments<typeof options>["values"]

export const psCommand = command({
  usage: ["ps [OPTIONS]", "ps --interactive [OPTIONS]"],
  about: `\
AGE is the time since the request, TIME the running time without pauses, OUTPUT the size of the
output. EXIT is the exit code, or what ended the execution instead.

In the interactive list, arrows or j and k select; Enter attaches, and detaching (Ctrl-] Ctrl-], or
Ctrl-C without a terminal, or Ctrl-D from an agent's session) comes back to the list; l shows the
last lines of its output; c cancels, after a question; p pauses and resumes; / filters by id, name,
label, state or command; a adds those that have ended; q quits. \`cc-executor top\` is the same.`,
  options,
  examples: {
    "what is running now": "cc-executor ps",
    "what have the sessions of a file done": "cc-executor ps -a --changes --label each=todo",
    "look around, attach and cancel": "cc-executor ps -i",
    "the last ten, ended or not": "cc-executor ps -a -n 10",
    "follow all changes as JSON lines": "cc-executor ps --watch --json",
  },
  async run(context, { values }) {
    const filter = filterOf(values)
    if (values.interactive === true) checkInteractive(context, values)
    const looksBack = filter.states === null || filter.states.includes("ended")
    // What runs, runs in a service: without one there is nothing to see, unless it is the past.
    const start = looksBack ? "with-journal" : "never"
    const address = addressOf(context, values)
    const reached = await tryReach(context, address, start)
    if (reached === null) {
      await context.stdout.write(shown(context, values, []))
      await context.stderr.write(`${noServiceText(address)}\n`)
      return 0
    }
    await using _reached = reached
    const { client } = reached
    if (values.interactive === true) {
      const { interactiveList } = await import("../executions/interactive-list.ts")
      return await interactiveList(context, client, filter, attachTo(values))
    }
    if (values.watch === true) return await watch(context, values, client, filter)
    const views = await listExecutions(client, filter)
    const changes = values.changes === true ? await changesOf(client, views) : null
    await context.stdout.write(shown(context, values, views, changes))
    return 0
  },
})

function checkInteractive({ stdin, stdout, env }: Context, { json, quiet }: PsValues): void {
  if (json === true || quiet === true) {
    throw new UsageFailure("--interactive shows a list for people: use it without --json or -q.")
  }
  if (stdin.kind === "terminal" && stdout.isTty && env["TERM"] !== "dumb") return
  throw new UsageFailure("--interactive needs a terminal. Use --watch to follow all changes.")
}

/** On a connection of its own, which ends with it: nothing of it is left to the list. */
function attachTo(values: PsValues) {
  return async (context: Context, id: string, earlier: readonly EndingSignal[]) => {
    const stderr = new NoticeOutput(context.stderr)
    await using reached = await reach({ ...context, stderr }, values, "never")
    const { client } = reached
    const view = await client.call("status", { execution_id: id })
    if (view.agent) {
      const { viewAttached } = await import("../agents/view/open-view.ts")
      await viewAttached(context, stderr, client, view)
      return
    }
    await attach(context, client, id, { detachKeys: detachSequence(), earlier })
  }
}

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

function shown(
  context: Context,
  values: PsValues,
  views: readonly ExecutionView[],
  changes: ReadonlyMap<string, string> | null = null,
): Text {
  if (values.json === true) return `${JSON.stringify({ executions: views }, null, 2)}\n`
  if (values.quiet === true) return asLines(views.map((view) => onOneLine(view.execution_id)))
  return asLines(executionTable(context, views, changes))
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
    if (values.quiet === true) return onOneLine(view.execution_id)
    return executionTable(context, [view]).at(-1) ?? ""
  })
}
