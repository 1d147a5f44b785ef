import { checkPrompt } from "../../../workflow/run/check-prompt.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { expected, workPath } from "../../work/in-world.ts"

export const promptCheckCommand = command({
  usage: ["prompt check [OPTIONS] FILE"],
  about: `\
Looks whether a prompt has what it needs to be tried and to graduate: checks that do something,
metrics and a history, at least three recovery tests. Nothing is run, and nothing written.`,
  options: { json: flag("one JSON document") },
  examples: { "before the first run": "cc-executor prompt check prompts/healthz.md" },
  operands: { atLeast: 1, atMost: 1, what: "The file" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const faults = await expected(async () => checkPrompt(path))
    const isComplete = faults.length === 0
    const lines =
      values.json === true
        ? [JSON.stringify({ path, complete: isComplete, missing: faults })]
        : isComplete
          ? [`${path} has all that it needs.`]
          : [`${path} is not complete:`, ...faults.map((fault) => `  ${fault}`)]
    await context.stdout.write(asLines(lines))
    return isComplete ? 0 : 1
  },
})
