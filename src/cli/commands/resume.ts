import { shortId } from "../../execution/id.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import { eachExecution } from "../executions/each-execution.ts"

export const resumeCommand = command({
  usage: ["resume [OPTIONS] ID…"],
  about: `\
Every process of the execution goes on where it was, and so do its timeouts.`,
  options: addressOptions,
  examples: [{ about: "let it go on", command: "cc-executor resume 7kq2mfa4" }],
  operands: { atLeast: 1, atMost: Number.POSITIVE_INFINITY, what: "The id of an execution" },
  async run(context, { values, operands }) {
    await using reached = await reach(context, values, "with-journal")
    return await eachExecution(context, reached.client, operands, async (client, id) => {
      const { execution_id } = await client.call("control", { type: "RESUME", execution_id: id })
      return `${shortId(execution_id)} resumed`
    })
  },
})
