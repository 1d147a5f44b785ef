import { eachExecutionCommand } from "../executions/each-execution.ts"

export const resumeCommand = eachExecutionCommand({
  usage: ["resume [OPTIONS] ID…"],
  about: "Lets every process of the execution continue, and its timeouts count again.",
  examples: { "continue an execution": "cc-executor resume 7kq2mfa4" },
  async work(client, { id, called }) {
    await client.call("control", { type: "RESUME", execution_id: id })
    return `${called} resumed`
  },
})
