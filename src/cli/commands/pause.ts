import { shortId } from "../../execution/id.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import { eachExecution } from "../executions/each-execution.ts"

export const pauseCommand = command({
  usage: ["pause [OPTIONS] ID…"],
  about: `\
Freezes every process of the execution. Timeouts stop counting until it is resumed.`,
  options: addressOptions,
  examples: [{ about: "freeze an execution", command: "cc-executor pause 7kq2mfa4" }],
  operands: { atLeast: 1, atMost: Number.POSITIVE_INFINITY, what: "The execution id" },
  async run(context, { values, operands }) {
    await using reached = await reach(context, values, "with-journal")
    return await eachExecution(context, reached.client, operands, async (client, id) => {
      const { execution_id } = await client.call("control", { type: "PAUSE", execution_id: id })
      return `${shortId(execution_id)} paused`
    })
  },
})
