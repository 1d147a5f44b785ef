import { newWork } from "../../../workflow/run/new-work.ts"
import { command } from "../../command.ts"
import { expected, workPath } from "../../work/in-world.ts"

export const tasksNewCommand = command({
  usage: ["tasks new NAME"],
  about: "Writes NAME.md, a task list that explains itself.",
  options: {},
  examples: { "begin one": "cc-executor tasks new TASKS" },
  operands: { atLeast: 1, atMost: 1, what: "The name" },
  async run(context, { operands }) {
    const path = await expected(async () => newWork("tasks", workPath(context, operands[0])))
    await context.stdout.write(`${path}\n`)
    return 0
  },
})
