import { eachExecutionCommand } from "../executions/each-execution.ts"

export const rmCommand = eachExecutionCommand({
  usage: ["rm [OPTIONS] ID…"],
  about: "Also removes their transcripts and receipts. Running executions are not removed.",
  examples: { "remove an execution": "cc-executor rm 7kq2mfa4" },
  async work(client, { id, called }) {
    await client.call("remove", { execution_id: id })
    return `${called} removed`
  },
})
