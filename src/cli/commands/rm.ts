import { shortId } from "../../execution/id.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import { eachExecution } from "../executions/each-execution.ts"

export const rmCommand = command({
  usage: ["rm [OPTIONS] ID…"],
  about: "Also removes their transcripts and receipts. Running executions are not removed.",
  options: addressOptions,
  examples: [{ about: "remove an execution", command: "cc-executor rm 7kq2mfa4" }],
  operands: { atLeast: 1, atMost: Number.POSITIVE_INFINITY, what: "The execution id" },
  async run(context, { values, operands }) {
    await using reached = await reach(context, values, "with-journal")
    return await eachExecution(context, reached.client, operands, async (client, id) => {
      // A prefix would no longer be found, should the request have to be repeated.
      const { execution_id } = await client.call("status", { execution_id: id })
      await client.call("remove", { execution_id })
      return `${shortId(execution_id)} removed`
    })
  },
})
