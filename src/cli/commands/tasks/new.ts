import { newWork } from "../../../workflow/run/new-work.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { expected, workPath } from "../../work/in-world.ts"

export const tasksNewCommand = command({
  usage: ["tasks new [OPTIONS] NAME"],
  about: `\
Writes NAME.md, a task list that explains itself; with --blueprint, one with the purpose, the
requirements and the parts of a project before its tasks.`,
  options: { blueprint: flag("the blueprint of a project, whose tasks lead there") },
  examples: {
    "begin one": "cc-executor tasks new TASKS",
    "begin a project": "cc-executor tasks new --blueprint PROJECT",
  },
  operands: { atLeast: 1, atMost: 1, what: "The name" },
  async run(context, { values, operands }) {
    const kind = values.blueprint === true ? "blueprint" : "tasks"
    const path = await expected(async () => newWork(kind, workPath(context, operands[0])))
    await context.stdout.write(`${path}\n`)
    return 0
  },
})
