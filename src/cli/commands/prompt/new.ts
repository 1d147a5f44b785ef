import { newWork } from "../../../workflow/run/new-work.ts"
import { command } from "../../command.ts"
import { expected, workPath } from "../../work/in-world.ts"

export const promptNewCommand = command({
  usage: ["prompt new NAME"],
  about: "Writes NAME.md, a prompt that explains itself.",
  options: {},
  examples: { "begin one": "cc-executor prompt new prompts/T01_robust_logging" },
  operands: { atLeast: 1, atMost: 1, what: "The name" },
  async run(context, { operands }) {
    const path = await expected(async () => newWork("prompt", workPath(context, operands[0])))
    await context.stdout.write(`${path}\n`)
    return 0
  },
})
