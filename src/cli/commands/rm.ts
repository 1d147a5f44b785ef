import { shortId } from "../../execution/id.ts"
import { eachExecutionCommand } from "../executions/each-execution.ts"

export const rmCommand = eachExecutionCommand({
  usage: ["rm [OPTIONS] ID…"],
  about: "Also removes their transcripts and receipts. Running executions are not removed.",
  examples: { "remove an execution": "cc-executor rm 7kq2mfa4" },
  async work(client, id) {
    // A prefix would no longer be found, should the request have to be repeated.
    const { execution_id } = await client.call("status", { execution_id: id })
    await client.call("remove", { execution_id })
    return `${shortId(execution_id)} removed`
  },
})
