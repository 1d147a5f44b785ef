import { lookAt } from "../../../workflow/run/files/work-state.ts"
import { listOf } from "../../../workflow/run/run-tasks.ts"
import { workStatus } from "../../../workflow/run/work-status.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { inWorld, workOptions, workPath } from "../../work/in-world.ts"
import { taskTable } from "../../work/status-text.ts"

export const tasksStatusCommand = command({
  usage: ["tasks status [OPTIONS] FILE"],
  about: `\
Shows what is known of every task of a list. \`verified\` means that its checks were seen to fail,
and then to pass; a box that somebody has ticked is \`unattested\`. Nothing is run or written.`,
  options: { json: flag("one JSON document"), ...workOptions },
  examples: { "how far is it?": "cc-executor tasks status TASKS.md" },
  operands: { atLeast: 1, atMost: 1, what: "The file" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const status = await inWorld(context, values, async (world) => {
      const state = await lookAt(world, path)
      listOf(state)
      return workStatus(state)
    })
    const lines =
      values.json === true
        ? [JSON.stringify(status)]
        : [...taskTable(context, status), ...status.problems]
    await context.stdout.write(asLines(lines))
    return 0
  },
})
