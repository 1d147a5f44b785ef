import { userInfo } from "node:os"
import { acceptTask } from "../../../workflow/run/accept-task.ts"
import { option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { UsageFailure } from "../../failure.ts"
import { inWorld, workOptions, workPath } from "../../work/in-world.ts"

export const tasksAcceptCommand = command({
  usage: ["tasks accept [OPTIONS] FILE ID --why TEXT"],
  about: `\
Writes below a task that a person has accepted it, and why: for tasks that no command can check. It
is then done, but never counts as verified. What an agent runs within a trial cannot do this.`,
  options: {
    why: option("TEXT", "what it was accepted by"),
    by: option("NAME", "who has accepted it (default: you)"),
    ...workOptions,
  },
  examples: {
    "a text that was read": "cc-executor tasks accept TASKS.md T04 --why 'read, and it is right'",
  },
  operands: { atLeast: 2, atMost: 2, what: "The file, and the id of the task," },
  async run(context, { values, operands }) {
    const [file, task = ""] = operands
    const why = (values.why ?? "").replace(/\s+/g, " ").trim()
    if (why === "") throw new UsageFailure("Say why it is accepted: --why TEXT.")
    const by = (values.by ?? userInfo().username).replace(/[:\s]+/g, " ").trim()
    if (by === "") throw new UsageFailure("Say who accepts it: --by NAME.")
    const path = workPath(context, file)
    await inWorld(context, values, (world) => acceptTask(world, path, { task, by, why }))
    await context.stdout.write(`${task}: accepted by ${by}: ${why}\n`)
    return 0
  },
})
