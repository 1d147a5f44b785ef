import { onOneLine } from "../../../lib/harmless-text.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"
import { deliveryState } from "./delivery-state.ts"

export const notifyTestCommand = command({
  usage: ["notify test [OPTIONS] TARGET"],
  about: `\
Sends a test message to a target, once, and says what became of it. It exits with 0 if it arrived.`,
  options: { json: flag("one JSON document"), ...addressOptions },
  examples: { "does it arrive?": "cc-executor notify test oncall" },
  operands: { atLeast: 1, atMost: 1, what: "The name of a target" },
  async run(context, { values, operands: [target = ""] }) {
    await using reached = await reach(context, values, "never")
    const delivery = await reached.client.call("notify.test", { target })
    const { text, isGood } = deliveryState(delivery, context.now())
    const line =
      values.json === true
        ? JSON.stringify(delivery, null, 2)
        : `${target}: ${onOneLine(isGood ? text : reasonOf(delivery.attempts.at(-1)?.why))}`
    await context.stdout.write(`${line}\n`)
    return isGood ? 0 : 1
  },
})

function reasonOf(why: string | null | undefined): string {
  return `not delivered: ${why ?? "it was not tried"}`
}
