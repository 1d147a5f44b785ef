import { countText } from "../../lib/count-text.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { type Arguments, flag, option, readPairs, repeatable } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOf, addressOptions } from "../connect/address.ts"
import { type Reached, tryReach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { listExecutions } from "../executions/list-executions.ts"
import { CommandFailure, UsageFailure } from "../failure.ts"
import { ageText, durationOption, sizeText } from "../time.ts"

const options = {
  "older-than": option("TIME", "only those that ended this long ago (default 1d)"),
  all: flag("all of them, however recently they ended", { short: "a" }),
  label: repeatable("NAME=VALUE", "only those with this label", { short: "l" }),
  force: flag("do not ask for confirmation", { short: "f" }),
  ...addressOptions,
}

type PruneValues = Arguments<typeof options>["values"]

const defaultAge = "1d"

export const pruneCommand = command({
  usage: ["prune [OPTIONS]"],
  about: "Also removes their transcripts and receipts. Running executions are not touched.",
  options,
  examples: {
    "those that ended more than a day ago": "cc-executor prune",
    "in a script: those that ended more than a week ago":
      "cc-executor prune --older-than 7d --force",
  },
  async run(context, { values }) {
    if (values.all === true && values["older-than"] !== undefined) {
      throw new UsageFailure("Use either --all or --older-than, not both.")
    }
    const reached = await tryReach(context, addressOf(context, values), "with-journal")
    if (reached === null) return tell(context, "Nothing to remove.", 0)
    await using _reached = reached
    return await prune(context, values, reached)
  },
})

async function prune(context: Context, values: PruneValues, { client }: Reached): Promise<number> {
  const labels = readPairs("--label", values.label)
  const filter = { states: ["ended"], labels, limit: Number.POSITIVE_INFINITY } as const
  const ended = await listExecutions(client, filter)
  const age = values["older-than"] ?? defaultAge
  const ageMs = values.all === true ? 0 : durationOption("--older-than", age)
  const nowMs = context.now().getTime()
  const old = ended.filter((view) => nowMs - Date.parse(view.ended_at ?? "") >= ageMs)
  if (old.length === 0) return tell(context, nothingOld(ended.length, ageMs), 0)
  if (values.force !== true && !(await isConfirmed(context, old))) {
    return tell(context, "Nothing was removed.", 1)
  }
  for (const { execution_id } of old) await client.call("remove", { execution_id })
  return tell(context, `Removed ${counted(old.length)}, ${sizeText(outputBytes(old))}.`, 0)
}

async function isConfirmed(context: Context, old: readonly ExecutionView[]): Promise<boolean> {
  if (context.stdin.kind !== "terminal") {
    throw new CommandFailure(
      `${counted(old.length)} would be removed, but cannot ask for confirmation here. Use --force.`,
    )
  }
  const question = `Remove ${counted(old.length)} (${sizeText(outputBytes(old))})? [y/N] `
  await context.stderr.write(question)
  const asked = new AbortController()
  for await (const chunk of context.stdin.chunks(asked.signal)) {
    return /^y(es)?$/i.test(Buffer.from(chunk).toString("utf8").trim())
  }
  return false
}

function nothingOld(count: number, ageMs: number): string {
  if (count === 0) return "Nothing to remove."
  return `None of ${counted(count)} ended ${ageText(ageMs)} ago. Use --all to remove them anyway.`
}

function counted(count: number): string {
  return countText(count, "ended execution")
}

function outputBytes(views: readonly ExecutionView[]): number {
  return views.reduce((sum, { bytes }) => sum + bytes.stdout + bytes.stderr, 0)
}

async function tell(context: Context, text: string, exitCode: number): Promise<number> {
  await context.stderr.write(`${text}\n`)
  return exitCode
}
