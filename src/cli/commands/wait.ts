import type { Client } from "../../client/connect.ts"
import { shortId } from "../../execution/id.ts"
import type { Completed } from "../../protocol/notifications.ts"
import { flag } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { endingNotice } from "../executions/execution-text.ts"
import { liveExecutions } from "../executions/list-executions.ts"
import { exitCodeOf, ownFailure } from "../exit-code.ts"
import { CommandFailure, UsageFailure } from "../failure.ts"
import { spin } from "../terminal/spinner.ts"

export const waitCommand = command({
  usage: ["wait [OPTIONS] ID…", "wait --any [OPTIONS] [ID…]"],
  about: `\
Waits for all of them, and exits with 0 if all succeeded. Else it says which did not, and exits
like \`run\` would for the first of these. With --any it waits for the first one to end, of those
named or of all that are live, prints its id, and exits like \`run\` would for it.`,
  options: {
    any: flag("wait for one of them, whichever ends first"),
    ...addressOptions,
  },
  examples: {
    "wait and act on the result": "cc-executor wait 7kq2mfa4 && ./publish.sh",
    "take results as they come": "cc-executor wait --any 7kq2mfa4 p5xw7ezh",
  },
  operands: { atLeast: 0, what: "The execution id" },
  failureExitCode: ownFailure,
  async run(context, { values, operands }) {
    if (operands.length === 0 && values.any !== true) {
      throw new UsageFailure("The execution id is missing. --any waits for one of all.")
    }
    await using reached = await reach(context, values, "with-journal")
    const { client } = reached
    if (values.any === true) return await waitForOne(context, client, operands)
    const completed = await endsOf(context, client, operands)
    const failed = completed.filter((one) => exitCodeOf(one) !== 0)
    for (const one of failed) await tell(context, one, completed.length > 1)
    const [first] = failed
    return first === undefined ? 0 : exitCodeOf(first)
  },
})

async function waitForOne(
  context: Context,
  client: Client,
  operands: readonly string[],
): Promise<number> {
  const ids = operands.length > 0 ? await distinct(client, operands) : await liveIds(client)
  if (ids.length === 0) {
    throw new CommandFailure("Nothing is running, so there is no end to wait for.")
  }
  const first = await spinning(context, Promise.race(ids.map((id) => endOf(client, id))))
  await tell(context, first, false)
  await context.stdout.write(`${first.execution_id}\n`)
  return exitCodeOf(first)
}

async function liveIds(client: Client): Promise<string[]> {
  return (await liveExecutions(client)).map(({ execution_id }) => execution_id)
}

/** Where several were waited for, also of ends that an exit code alone would explain. */
async function tell(context: Context, one: Completed, isOneOfMany: boolean): Promise<void> {
  const notice = endingNotice(one) ?? (isOneOfMany ? failedText(one) : null)
  if (notice !== null) await context.stderr.write(`cc-executor: ${notice}\n`)
}

function failedText({ execution_id, exit_code, signal }: Completed): string {
  const how = signal === null ? `with exit code ${exit_code}` : `by ${signal}`
  return `${shortId(execution_id)} ended ${how}.`
}

async function endsOf(
  context: Context,
  client: Client,
  ids: readonly string[],
): Promise<Completed[]> {
  const each = await distinct(client, ids)
  return spinning(context, Promise.all(each.map((id) => endOf(client, id))))
}

/** The same execution may be named twice, and a client follows each only once. */
async function distinct(client: Client, ids: readonly string[]): Promise<string[]> {
  const views = await Promise.all(ids.map((id) => client.call("status", { execution_id: id })))
  return [...new Set(views.map(({ execution_id }) => execution_id))]
}

async function spinning<Value>(context: Context, work: Promise<Value>): Promise<Value> {
  await using _spinner = spin(context, "waiting…")
  return await work
}

async function endOf(client: Client, id: string): Promise<Completed> {
  const execution = await client.attach(id, { from: "tail", output: "ignore", encoding: "binary" })
  return execution.ended
}
