import { PermissionMode } from "../../../protocol/agent.ts"
import { configureRequest } from "../../agents/start-request.ts"
import { option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"

export const agentConfigureCommand = command({
  usage: ["agent configure [OPTIONS] ID"],
  about: "Changes the model or the permission mode of a session that runs.",
  options: {
    model: option("MODEL", "which model to use from now on", { short: "m" }),
    "permission-mode": option("MODE", "what it may do without asking from now on", {
      choices: PermissionMode.options,
    }),
    ...addressOptions,
  },
  examples: { "let it edit": "cc-executor agent configure 7kq2mfa4 --permission-mode acceptEdits" },
  operands: { atLeast: 1, atMost: 1, what: "The session's id" },
  async run(context, { values, operands: [execution_id = ""] }) {
    const change = configureRequest(values)
    await using reached = await reach(context, values, "with-journal")
    await reached.client.call("agent.configure", { execution_id, ...change })
    return 0
  },
})
