import { shortId } from "../../execution/id.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import { eachExecution } from "../executions/each-execution.ts"

export const resumeCommand = command({
  usage: ["resume [OPTIONS] ID…"],
  about: `\
Lets every process of the execution continue, and its timeouts count again.`,
  options: addressOptions,
  examples: [{ about: "continue an execution", command: "cc-executor resume 7kq2mfa4" }],
  operands: { atLeast: 1, atMost: Number.POSITIVE_INFINITY, what: "The execution id" },
  async run(context, { values, operands }) {
    await using reached = await reach(context, values, "with-journal")
    return await eachExecution(context, reached.client, operands, async (client, id) => {
      const { execution_id } = await client.call("control", { type: "RESUME", execution_id: id })
      return `${shortId(execution_id)} resumed`
    })
  },
})
