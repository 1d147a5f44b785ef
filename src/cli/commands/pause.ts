import { eachExecutionCommand } from "../executions/each-execution.ts"

export const pauseCommand = eachExecutionCommand({
  usage: ["pause [OPTIONS] ID…"],
  about: "Freezes every process of the execution. Timeouts stop counting until it is resumed.",
  examples: { "freeze an execution": "cc-executor pause 7kq2mfa4" },
  async work(client, { id, called }) {
    await client.call("control", { type: "PAUSE", execution_id: id })
    return `${called} paused`
  },
})
