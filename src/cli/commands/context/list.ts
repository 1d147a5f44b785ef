import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { localName, readContexts } from "../../connect/saved-contexts.ts"
import { chosenService } from "../../connect/service-choice.ts"
import { renderTable } from "../../terminal/table.ts"
import { asLines } from "../../terminal/terminal-text.ts"

export const contextListCommand = command({
  usage: ["context list [OPTIONS]"],
  about: "The star is at the one that commands use here and now.",
  options: { json: flag("print JSON") },
  examples: { "which are there": "cc-executor context list" },
  async run(context, { values }) {
    const saved = readContexts(context)
    if (values.json === true) {
      await context.stdout.write(`${JSON.stringify(saved, null, 2)}\n`)
      return 0
    }
    const choice = chosenService(context, {})
    const used = "name" in choice ? choice.name : choice.by === "CC_EXECUTOR_URL" ? "" : localName
    const all = [
      [localName, "this machine", ""],
      ...Object.entries(saved.contexts).map(([name, { url, token_file = "" }]) => [
        name,
        url,
        token_file,
      ]),
    ]
    const rows = all.map(([name = "", ...rest]) =>
      [name === used ? "*" : "", name, ...rest].map((text) => ({ text })),
    )
    const columns = ["", "NAME", "URL", "TOKEN FILE"]
    await context.stdout.write(asLines(renderTable(columns, rows, context.stdout.width())))
    return 0
  },
})
