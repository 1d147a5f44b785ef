import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"

export const agentEndCommand = command({
  usage: ["agent end [OPTIONS] ID"],
  about: `\
Lets the session finish its turn, and those that wait, then ends it. \`cancel\` ends it at once.`,
  options: { ...addressOptions },
  examples: { "no more turns": "cc-executor agent end 7kq2mfa4" },
  operands: { atLeast: 1, atMost: 1, what: "The session's id" },
  async run(context, { values, operands: [execution_id = ""] }) {
    await using reached = await reach(context, values, "with-journal")
    await reached.client.call("agent.end", { execution_id })
    return 0
  },
})
