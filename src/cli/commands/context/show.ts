import { command } from "../../command.ts"
import { addressOf, addressOptions } from "../../connect/address.ts"
import { contextsPath } from "../../connect/saved-contexts.ts"
import { type Choice, chosenService } from "../../connect/service-choice.ts"

export const contextShowCommand = command({
  usage: ["context show [OPTIONS]"],
  about: "Takes the options that name a service, and says which one a command with them would use.",
  options: addressOptions,
  examples: {
    "which service do commands use here": "cc-executor context show",
    "what is saved of the team's": "cc-executor context show --context team",
  },
  async run(context, { values }) {
    const choice = chosenService(context, values)
    const address = addressOf(context, values)
    const rows: [string, string | null][] = [
      ["context", "name" in choice ? choice.name : null],
      ["chosen by", reasonText(choice)],
      ["service", address.kind === "local" ? "local" : address.url],
      ["state directory", address.kind === "local" ? address.paths.directory : null],
      ["token from", address.kind === "remote" ? (address.token?.from ?? "none") : null],
      ["contexts in", contextsPath(context)],
    ]
    const shown = rows.filter(([, text]) => text !== null)
    await context.stdout.write(
      shown.map(([name, text]) => `${name.padEnd(17)}${text ?? ""}\n`).join(""),
    )
    return 0
  },
})

function reasonText({ by }: Choice): string {
  if (by === "default") return "default: nothing names another service"
  if (by === "context use") return "`cc-executor context use`"
  return by.startsWith("--") ? by : `$${by}`
}
