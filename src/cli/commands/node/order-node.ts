import type { Client } from "../../../client/connect.ts"
import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"

type Order = {
  usage: string
  about: string
  example: [about: string, line: string]
  /** Answers what was done, as a sentence. */
  give: (client: Client, node: string) => Promise<string>
}

/** A command that orders something about one node. */
export function nodeOrder({ usage, about, example, give }: Order) {
  const [what, line] = example
  return command({
    usage: [usage],
    about,
    options: { ...addressOptions },
    examples: { [what]: line },
    operands: { atLeast: 1, atMost: 1, what: "The node" },
    async run(context, { values, operands }) {
      const [node = ""] = operands
      await using reached = await reach(context, values, "never")
      await context.stdout.write(`${await give(reached.client, node)}\n`)
      return 0
    },
  })
}
