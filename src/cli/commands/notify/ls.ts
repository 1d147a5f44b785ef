import { shortId } from "../../../execution/id.ts"
import type { DeliveryView, TargetView } from "../../../protocol/notify.ts"
import { flag, option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"
import type { Context } from "../../context.ts"
import { coloursFor } from "../../terminal/colours.ts"
import { renderTable } from "../../terminal/table.ts"
import { asLines, type Text } from "../../terminal/terminal-text.ts"
import { ageText, countOption } from "../../time.ts"
import { deliveryState, stateOption } from "./delivery-state.ts"

export const notifyLsCommand = command({
  usage: ["notify ls [OPTIONS]"],
  about: `\
Lists the targets that you may name, then the newest messages to them: what was delivered, what is
tried again and when, what was given up and why. With --json every attempt of a message is shown.`,
  options: {
    target: option("NAME", "only messages to this target", { short: "t" }),
    state: option("STATE", "only messages in this state", { choices: stateOption.choices }),
    execution: option("ID", "only messages about this execution"),
    lines: option("N", "the newest N (default 20)", { short: "n" }),
    json: flag("one JSON document"),
    ...addressOptions,
  },
  examples: {
    "what was told to whom": "cc-executor notify ls",
    "what does not arrive": "cc-executor notify ls --state pending",
  },
  async run(context, { values }) {
    const { target, state, execution } = values
    const limit = values.lines === undefined ? 20 : countOption("--lines", values.lines)
    await using reached = await reach(context, values, "never")
    const listed = await reached.client.call("notify.list", {
      limit,
      ...(target === undefined ? {} : { target }),
      ...(state === undefined ? {} : { state: stateOption.read(state) }),
      ...(execution === undefined ? {} : { execution_id: execution }),
    })
    if (values.json === true) {
      await context.stdout.write(`${JSON.stringify(listed, null, 2)}\n`)
      return 0
    }
    const lines = [
      ...targetTable(context, listed.targets),
      "",
      ...table(context, listed.deliveries),
    ]
    await context.stdout.write(asLines(lines))
    return 0
  },
})

function targetTable(context: Context, targets: readonly TargetView[]): Text[] {
  if (targets.length === 0) return ["There is no target that you may name."]
  const colours = coloursFor(context.stdout, context.env)
  const rows = targets.map(({ name, kind, pending, failing_since }) => [
    { text: name, paint: colours.cyan },
    { text: kind },
    { text: String(pending) },
    failing_since === null
      ? { text: "ok", paint: colours.green }
      : { text: `failing for ${ageOf(context, failing_since)}`, paint: colours.red },
  ])
  const columns = ["TARGET", "KIND", { right: "PENDING" }, "STATE"]
  return renderTable(columns, rows, context.stdout.width())
}

function table(context: Context, deliveries: readonly DeliveryView[]): Text[] {
  if (deliveries.length === 0) return ["No message yet."]
  const colours = coloursFor(context.stdout, context.env)
  const rows = deliveries.map((delivery) => {
    const { text, isGood } = deliveryState(delivery, context.now())
    const paint = isGood
      ? colours.green
      : delivery.state === "pending"
        ? colours.yellow
        : colours.red
    return [
      { text: shortId(delivery.delivery_id) },
      { text: ageOf(context, delivery.created_at) },
      { text: delivery.target, paint: colours.cyan },
      { text: delivery.event },
      { text: delivery.about === null ? "-" : shortId(delivery.about) },
      { text, paint },
    ]
  })
  const columns = ["MESSAGE", { right: "AGE" }, "TARGET", "EVENT", "ABOUT", "STATE"]
  return renderTable(columns, rows, context.stdout.width())
}

function ageOf(context: Context, time: string): string {
  return ageText(Math.max(0, context.now().getTime() - Date.parse(time)))
}
