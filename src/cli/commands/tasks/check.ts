import { checkTasks } from "../../../workflow/run/check-tasks.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { expected, workPath } from "../../work/in-world.ts"

export const tasksCheckCommand = command({
  usage: ["tasks check [OPTIONS] FILE"],
  about: `\
Looks whether the tasks of a list can be shown done: checks that can fail, and nothing that looks
like a check and would not be run. Tasks without a check are named: a person has to accept them.
Nothing is run, and nothing written.`,
  options: { json: flag("one JSON document") },
  examples: { "before the first run": "cc-executor tasks check TASKS.md" },
  operands: { atLeast: 1, atMost: 1, what: "The file" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const { faults, notes } = await expected(async () => checkTasks(path))
    const isComplete = faults.length === 0
    const verdict = isComplete ? `${path} has all that it needs.` : `${path} is not complete:`
    const lines =
      values.json === true
        ? [JSON.stringify({ path, complete: isComplete, missing: faults, notes })]
        : [verdict, ...faults.map((one) => `  ${one}`), ...notes.map((one) => `  note: ${one}`)]
    await context.stdout.write(asLines(lines))
    return isComplete ? 0 : 1
  },
})
