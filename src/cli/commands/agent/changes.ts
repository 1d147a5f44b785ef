import { changesText } from "../../agents/changes-text.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"

export const agentChangesCommand = command({
  usage: ["agent changes [OPTIONS] ID"],
  about: `\
Shows what has changed in the worktree of a session: commits, files, what is not committed. It is
compared with the branch that the worktree was made from, as that is now.`,
  options: { json: flag("print JSON"), ...addressOptions },
  examples: { "what has it done": "cc-executor agent changes 7kq2mfa4" },
  operands: { atLeast: 1, atMost: 1, what: "The session's id" },
  async run(context, { values, operands: [execution_id = ""] }) {
    await using reached = await reach(context, values, "with-journal")
    const changes = await reached.client.call("agent.changes", { execution_id })
    const text =
      values.json === true
        ? JSON.stringify(changes, null, 2)
        : changesText(context, execution_id, changes)
    await context.stdout.write(`${text}\n`)
    return 0
  },
})
