import { randomName } from "../../../client/random-name.ts"
import { readInput } from "../../agents/read-input.ts"
import { flag, option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"

export const agentSendCommand = command({
  usage: ["agent send [OPTIONS] ID TEXT…", "agent send [OPTIONS] ID -"],
  about: `\
Sends a session another turn; - reads it from standard input. Returns when the turn is on record:
it is carried out when those before it have ended, or at once with --now, which interrupts them.`,
  options: {
    now: flag("interrupt the turn that is under way"),
    "turn-id": option("ID", "a name of your own: the same one again is the same turn"),
    ...addressOptions,
  },
  examples: { "another turn": 'cc-executor agent send 7kq2mfa4 "And now the tests."' },
  operands: { atLeast: 2, what: "The session's id, and what to say," },
  async run(context, { values, operands: [execution_id = "", ...words] }) {
    const text = words.length === 1 && words[0] === "-" ? await readInput(context) : words.join(" ")
    await using reached = await reach(context, values, "with-journal")
    const turn_id = values["turn-id"] ?? randomName()
    const when = values.now === true ? ("now" as const) : ("next" as const)
    await reached.client.call("agent.send", { execution_id, text, turn_id, when })
    await context.stdout.write(`${turn_id}\n`)
    return 0
  },
})
