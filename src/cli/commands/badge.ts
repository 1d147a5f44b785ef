import { makeBadge, writeBadge } from "../../workflow/run/make-badge.ts"
import { option } from "../arguments.ts"
import { command } from "../command.ts"
import { expected, inWorld, workOptions, workPath } from "../work/in-world.ts"

export const badgeCommand = command({
  usage: ["badge [OPTIONS] FILE"],
  about: `\
Prints an SVG with the counts of a prompt, or how many tasks of a list are verified, and how they
have come about: a column for each version, or trial. It is made from the ledger alone: numbers
that stand in the file, and what a person has accepted, are not shown.

Exits with 1 where the ledger is damaged: then the badge says that, and no number.`,
  options: { output: option("PATH", "write it there", { short: "o" }), ...workOptions },
  examples: {
    "for a README": "cc-executor badge -o docs/healthz.svg prompts/healthz.md",
  },
  operands: { atLeast: 1, atMost: 1, what: "The file" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const { svg, damages } = await inWorld(context, values, (world) => makeBadge(world, path))
    const { output } = values
    if (output === undefined) await context.stdout.write(svg)
    else await expected(() => writeBadge(workPath(context, output), svg))
    for (const damage of damages) await context.stderr.write(`the ledger: ${damage}\n`)
    return damages.length === 0 ? 0 : 1
  },
})
