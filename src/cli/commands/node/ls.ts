import { onOneLine } from "../../../lib/harmless-text.ts"
import type { NodeView } from "../../../protocol/node.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"
import type { Context } from "../../context.ts"
import { type Colours, coloursFor, type Paint } from "../../terminal/colours.ts"
import { renderTable } from "../../terminal/table.ts"
import { asLines, type Text } from "../../terminal/terminal-text.ts"
import { durationText } from "../../time.ts"

export const nodeLsCommand = command({
  usage: ["node ls [OPTIONS]"],
  about: `\
Lists the nodes of the fleet as the one that is asked hears of them. HEARD is how long ago it has
heard of a node; * marks the one that is asked. Exits with 1 if nothing can be placed there now, and
says why.`,
  options: { json: flag("one JSON document"), ...addressOptions },
  examples: { "who is there": "cc-executor node ls" },
  async run(context, { values }) {
    await using reached = await reach(context, values, "never")
    const listed = await reached.client.call("node.list", {})
    const { nodes, missing } = listed
    if (values.json === true) await context.stdout.write(`${JSON.stringify(listed, null, 2)}\n`)
    else await context.stdout.write(asLines(nodeTable(context, nodes)))
    if (missing === null) return 0
    const why = `nothing can be placed now: ${onOneLine(missing)}`
    await context.stderr.write(`cc-executor: ${why}\n`)
    return 1
  },
})

function nodeTable(context: Context, nodes: readonly NodeView[]): Text[] {
  if (nodes.length === 0) return ["No node has joined yet."]
  const colours = coloursFor(context.stdout, context.env)
  const rows = nodes.map((view) => [
    { text: `${onOneLine(view.node)}${view.self ? "*" : ""}`, paint: colours.cyan },
    { text: view.state, paint: statePaint(view, colours) },
    { text: `${view.running}/${view.slots}` },
    { text: durationText(view.silent * 1000) },
    { text: onOneLine(view.version) },
    { text: onOneLine(view.address) },
    { text: onOneLine(labelsText(view.labels)) },
  ])
  const columns = ["NODE", "STATE", { right: "RUNNING" }, { right: "HEARD" }, "VERSION", "ADDRESS"]
  return renderTable([...columns, "LABELS"], rows, context.stdout.width())
}

function labelsText(labels: NodeView["labels"]): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(",")
}

function statePaint({ state }: NodeView, colours: Colours): Paint {
  switch (state) {
    case "ready":
      return colours.green
    case "joining":
    case "draining":
      return colours.yellow
    case "unreachable":
    case "forgotten":
      return colours.red
  }
}
