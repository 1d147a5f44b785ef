import { countText } from "../../lib/count-text.ts"
import { signalNumber } from "../../service/os/signals.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import { eachExecution } from "../executions/each-execution.ts"
import { UsageFailure } from "../failure.ts"

export const signalCommand = command({
  usage: ["signal [OPTIONS] SIGNAL ID…"],
  about: "SIGNAL is a name, with or without SIG, or a number.",
  options: addressOptions,
  examples: {
    "make a server reload its configuration": "cc-executor signal HUP 7kq2mfa4",
    "the same by number": "cc-executor signal 1 7kq2mfa4",
  },
  operands: {
    atLeast: 2,
    what: "A signal or an execution id",
  },
  async run(context, { values, operands }) {
    const [signal = "", ...ids] = operands
    if (signalNumber(signal) === null) {
      throw new UsageFailure(`Unknown signal: ${signal}. Use for example TERM, SIGTERM or 15.`)
    }
    await using reached = await reach(context, values, "with-journal")
    return await eachExecution(context, reached, ids, async (client, { id, called }) => {
      const params = { type: "SIGNAL", execution_id: id, signal } as const
      const result = await client.call("control", params)
      const count = result.status === "signaled" ? result.processes : 0
      const whom = countText(count, "process", "processes")
      return `${called} got ${signal.toUpperCase()}: ${whom}`
    })
  },
})
