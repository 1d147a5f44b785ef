import type { Client } from "../../client/connect.ts"
import { shortId } from "../../execution/id.ts"
import { StreamName } from "../../execution/record.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { flag, option } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { commandText } from "../executions/execution-text.ts"
import { listExecutions } from "../executions/list-executions.ts"
import { CommandFailure, UsageFailure } from "../failure.ts"
import { followedOutput, lastLines, pastOutput } from "../logs/log-chunk.ts"
import { LogPrinter } from "../logs/log-printer.ts"
import { printMatches } from "../logs/print-matches.ts"
import { printScreen } from "../logs/print-screen.ts"
import { ageText, countOption, timeOption } from "../time.ts"

export const logsCommand = command({
  usage: ["logs [OPTIONS] ID", "logs [OPTIONS]"],
  about: `\
Prints the command's stdout to stdout and its stderr to stderr, unchanged. Of an agent's session it
prints the conversation, for people; --raw prints the events that the session consists of. Without
an id: of the latest execution, and says which that is.

--search prints NUMBER:LINE of every line with the text in it, as the console finds them; of a long
line, the part around it. It exits with 1 if there is none.`,
  options: {
    follow: flag("follow until the execution ends", { short: "f" }),
    tail: option("N", "only the last N lines", { short: "n" }),
    since: option("TIME", "only since then: 10m, or a date and time"),
    stream: option("NAME", "only stdout, or only stderr", { choices: StreamName.options }),
    search: option("TEXT", "only lines with this text in them, in any case, with their numbers"),
    timestamps: flag("show when each line was written", { short: "t" }),
    screen: flag("of a terminal: what it shows now, or showed at its end"),
    plain: flag("text alone, without control sequences; what was written over is left out"),
    raw: flag("of an agent's session: its events, one JSON object a line"),
    ...addressOptions,
  },
  examples: {
    "the last lines, then new output": "cc-executor logs -f --tail 20 7kq2mfa4",
    "what happened in an agent's session":
      "cc-executor logs --raw 7kq2mfa4 | jq 'select(.event == \"question\")'",
    "what a full-screen program shows": "cc-executor logs --screen 7kq2mfa4",
    "where it went wrong": "cc-executor logs --search error 7kq2mfa4",
    "only the errors of the last ten minutes":
      "cc-executor logs --since 10m --stream stderr 7kq2mfa4",
  },
  operands: { atLeast: 0, atMost: 1, what: "The execution id" },
  async run(context, { values, operands: [id] }) {
    const stream = streamOf(values.stream)
    const since =
      values.since === undefined ? null : timeOption("--since", values.since, context.now())
    const tail = values.tail === undefined ? null : countOption("--tail", values.tail)
    await using reached = await reach(context, values, "with-journal")
    const { client } = reached
    const view =
      id === undefined
        ? await latest(context, client)
        : await client.call("status", { execution_id: id })
    const { timestamps = false } = values
    if (values.screen === true) {
      const lines = [since, tail, stream, values.search ?? null]
      const others = lines.some((given) => given !== null)
      if (others || timestamps || values.follow === true || values.raw === true) {
        throw new UsageFailure("--screen: the screen has no lines to choose from; use it alone.")
      }
      await printScreen(context, client, view.execution_id, values.plain === true)
      return 0
    }
    if (values.search !== undefined) {
      const others = [values.follow, values.plain, values.raw]
      if (others.includes(true)) {
        throw new UsageFailure(
          "--search: it finds lines that are written; not with -f, --plain or --raw.",
        )
      }
      if (values.search === "") throw new UsageFailure("--search: what to look for is missing.")
      const from = fromOf(since, tail)
      const sought = { text: values.search, from, stream, timestamps }
      return (await printMatches(context, client, view, sought)) ? 0 : 1
    }
    if (view.agent && values.raw !== true && stream === null) {
      const { printConversation } = await import("../agents/print-conversation.ts")
      const isFollowed = values.follow === true
      await printConversation(context, client, view, { isFollowed, tail, since, timestamps })
      return 0
    }
    const isPlain = values.plain === true
    const printer = new LogPrinter(context, { stream, since, timestamps, isPlain })

    let from = fromOf(since, stream === null ? tail : null)
    if (tail !== null && stream !== null) {
      // The service counts the lines of both streams together; those of one are counted here.
      const past = await lastLines(pastOutput(client, view, from), stream, tail, from)
      for (const chunk of past.chunks) await printer.print(chunk)
      if (values.follow !== true) {
        await printer.finish()
        return 0
      }
      from = past.next
    }
    const events =
      values.follow === true
        ? followedOutput(client, view.execution_id, from)
        : pastOutput(client, view, from)
    for await (const event of events) await printer.print(event)
    await printer.finish()
    return 0
  },
})

async function latest(context: Context, client: Client): Promise<ExecutionView> {
  const [view] = await listExecutions(client, { states: null, labels: {}, limit: 1 })
  if (view === undefined) throw new CommandFailure("There is no execution yet.")
  const age = ageText(context.now().getTime() - Date.parse(view.created_at))
  const what = `${shortId(view.execution_id)}, started ${age} ago: ${commandText(view)}`
  await context.stderr.write(`cc-executor: output of ${what}\n`)
  return view
}

function fromOf(since: Date | null, tail: number | null): string {
  if (tail !== null) return `tail:${tail}`
  return since === null ? "start" : `since:${since.toISOString()}`
}

function streamOf(name: string | undefined): StreamName | null {
  if (name === undefined) return null
  const stream = StreamName.safeParse(name)
  if (stream.success) return stream.data
  throw new UsageFailure(`--stream: "${name}" is not a stream: use stdout or stderr.`)
}
