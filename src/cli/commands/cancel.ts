import type { Client } from "../../client/connect.ts"
import { flag, readPairs, repeatable } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { agreeToEnd } from "../executions/agree-to-end.ts"
import { controlledText } from "../executions/controlled-text.ts"
import { eachExecution } from "../executions/each-execution.ts"
import { liveExecutions } from "../executions/list-executions.ts"
import { UsageFailure } from "../failure.ts"
import { spin } from "../terminal/spinner.ts"

export const cancelCommand = command({
  usage: ["cancel [OPTIONS] ID…", "cancel [OPTIONS] --all", "cancel [OPTIONS] -l NAME=VALUE"],
  about: `\
Sends SIGTERM to every process of the execution, and SIGKILL to those that do not end in time.
Returns when none is left, and says how they ended. Without ids it lists what it cancels, and on a
terminal asks first.`,
  options: {
    all: flag("everything that you may cancel and that is live", { short: "a" }),
    label: repeatable("NAME=VALUE", "everything live with this label", { short: "l" }),
    yes: flag("do not ask", { short: "y" }),
    ...addressOptions,
  },
  examples: {
    "stop an execution": "cc-executor cancel 7kq2mfa4",
    "stop everything that is running": "cc-executor cancel --all",
    "stop what belongs together": "cc-executor cancel -l project=site",
  },
  operands: { atLeast: 0, what: "The execution id" },
  async run(context, { values, operands }) {
    const labels = readPairs("--label", values.label)
    const isSelection = values.all === true || values.label !== undefined
    if (isSelection === operands.length > 0) {
      throw new UsageFailure("Name execution ids, or use --all or --label.")
    }
    await using reached = await reach(context, values, "with-journal")
    const { client } = reached
    const ids = isSelection ? await chosen(context, client, labels, values.yes === true) : operands
    if (ids === null) return 1
    await using _spinner = spin(context, "canceling…")
    return await eachExecution(context, reached, ids, async (_client, { id, called }) =>
      controlledText(called, await client.call("control", { type: "CANCEL", execution_id: id })),
    )
  },
})

/** Null where the person before the terminal does not want it. */
async function chosen(
  context: Context,
  client: Client,
  labels: Record<string, string>,
  isDecided: boolean,
): Promise<string[] | null> {
  const views = await liveExecutions(client, labels)
  if (views.length === 0) {
    await context.stderr.write("Nothing to cancel.\n")
    return []
  }
  const isAgreed = await agreeToEnd(context, views, { verb: "Cancel", isDecided })
  return isAgreed ? views.map(({ execution_id }) => execution_id) : null
}
