import type { Client } from "../../client/connect.ts"
import type { Completed } from "../../protocol/notifications.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { endingNotice } from "../executions/execution-text.ts"
import { exitCodeOf, ownFailure } from "../exit-code.ts"
import { spin } from "../terminal/spinner.ts"

export const waitCommand = command({
  usage: ["wait [OPTIONS] ID…"],
  about: "Waits for all of them, then exits like `run` would for the last one named.",
  options: addressOptions,
  examples: { "wait and act on the result": "cc-executor wait 7kq2mfa4 && ./publish.sh" },
  operands: { atLeast: 1, what: "The execution id" },
  failureExitCode: ownFailure,
  async run(context, { values, operands }) {
    await using reached = await reach(context, values, "with-journal")
    const completed = await endsOf(context, reached.client, operands)
    for (const one of completed) {
      const notice = endingNotice(one)
      if (notice !== null) await context.stderr.write(`cc-executor: ${notice}\n`)
    }
    const last = completed.at(-1)
    return last === undefined ? ownFailure : exitCodeOf(last)
  },
})

async function endsOf(
  context: Context,
  client: Client,
  ids: readonly string[],
): Promise<Completed[]> {
  await using _spinner = spin(context, "waiting…")
  // The same execution may be named twice, and a client follows each only once.
  const views = await Promise.all(ids.map((id) => client.call("status", { execution_id: id })))
  const ends = new Map<string, Promise<Completed>>()
  for (const { execution_id } of views) {
    if (!ends.has(execution_id)) ends.set(execution_id, endOf(client, execution_id))
  }
  await Promise.all(ends.values())
  return await Promise.all(views.flatMap(({ execution_id }) => ends.get(execution_id) ?? []))
}

async function endOf(client: Client, id: string): Promise<Completed> {
  const execution = await client.attach(id, { from: "tail", output: "ignore", encoding: "binary" })
  return execution.ended
}
