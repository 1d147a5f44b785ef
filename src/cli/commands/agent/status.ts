import { statusText } from "../../agents/session-text.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"

export const agentStatusCommand = command({
  usage: ["agent status [OPTIONS] ID"],
  about: "Shows what an agent's session does, what it asks, and what it has used.",
  options: { json: flag("print JSON"), ...addressOptions },
  examples: { "what does it wait for": "cc-executor agent status 7kq2mfa4" },
  operands: { atLeast: 1, atMost: 1, what: "The session's id" },
  async run(context, { values, operands: [execution_id = ""] }) {
    await using reached = await reach(context, values, "with-journal")
    const status = await reached.client.call("agent.status", { execution_id })
    const text =
      values.json === true ? JSON.stringify(status, null, 2) : statusText(context, status)
    await context.stdout.write(`${text}\n`)
    return 0
  },
})
