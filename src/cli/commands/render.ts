import { readWorkFile } from "../../workflow/run/files/read-work.ts"
import { bringUpToDate } from "../../workflow/run/files/work-state.ts"
import { verdictOn } from "../../workflow/run/verify-work.ts"
import { command } from "../command.ts"
import { asLines } from "../terminal/terminal-text.ts"
import { expected, inWorld, workOptions, workPath } from "../work/in-world.ts"

export const renderCommand = command({
  usage: ["render [OPTIONS] FILE…"],
  about: `\
Restores what is missing in the ledger of a work from the service's journal, and writes what the
ledger shows into the file: counts, ticks, history. Everything else in it stays as it is.`,
  options: workOptions,
  examples: { "undo what somebody has edited": "cc-executor render prompts/healthz.md" },
  operands: { atLeast: 1, what: "The file" },
  async run(context, { values, operands }) {
    const paths = operands.map((file) => workPath(context, file))
    await expected(async () => paths.map(readWorkFile))
    const problems = await inWorld(context, values, async (world) => {
      const found: string[] = []
      for (const path of paths) {
        const { damages } = verdictOn(await bringUpToDate(world, path))
        found.push(...damages.map((damage) => `${path}: ${damage}`))
      }
      return found
    })
    await context.stdout.write(asLines(problems))
    return problems.length === 0 ? 0 : 1
  },
})
