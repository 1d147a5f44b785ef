import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"

export const agentInterruptCommand = command({
  usage: ["agent interrupt [OPTIONS] ID"],
  about: "Ends the turn that is under way, with its tools; the session stays.",
  options: { ...addressOptions },
  examples: { "stop what it does": "cc-executor agent interrupt 7kq2mfa4" },
  operands: { atLeast: 1, atMost: 1, what: "The session's id" },
  async run(context, { values, operands: [execution_id = ""] }) {
    await using reached = await reach(context, values, "with-journal")
    await reached.client.call("agent.interrupt", { execution_id })
    return 0
  },
})
