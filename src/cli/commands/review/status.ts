import { fixStatus } from "../../../workflow/run/review/fix-status.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { fixTable } from "../../work/fix-table.ts"
import { inWorld, workOptions, workPath } from "../../work/in-world.ts"

export const reviewStatusCommand = command({
  usage: ["review status [OPTIONS] FIXES.json"],
  about: `\
Shows what is known of every fix, and the command that decides: \`prose\` is a verification that
needs one. Nothing is run or written.`,
  options: { json: flag("one JSON document"), ...workOptions },
  examples: { "what is left?": "cc-executor review status executor/017_websocket_fixes.json" },
  operands: { atLeast: 1, atMost: 1, what: "The list of fixes" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const status = await inWorld(context, values, (world) => fixStatus(world, path))
    const lines =
      values.json === true
        ? [JSON.stringify(status)]
        : [...fixTable(context, status), ...status.problems]
    await context.stdout.write(asLines(lines))
    return 0
  },
})
