import { runUsage, type UsageRun } from "../../../workflow/run/review/run-usage.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { inWorld, workOptions, workPath } from "../../work/in-world.ts"

export const reviewUsageCommand = command({
  usage: ["review usage [OPTIONS] REQUEST"],
  about: `\
Runs the usage checks of a request, each as an execution, in the directory that is reviewed, and
prints their ids, exit codes and output. A reviewer does this, and names the ids in its feedback.`,
  options: { json: flag("one JSON document"), ...workOptions },
  examples: {
    "as a reviewer": "cc-executor review usage orchestrator/017_log_review_request.md",
  },
  operands: { atLeast: 1, atMost: 1, what: "The request" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const runs = await inWorld(context, values, (world) => runUsage(world, path))
    const lines = values.json === true ? [JSON.stringify(runs)] : runs.flatMap(linesOf)
    await context.stdout.write(asLines(lines))
    return 0
  },
})

function linesOf({ check, execution_id, exit_code, outcome, tail }: UsageRun): string[] {
  const end = exit_code === null ? outcome : `exit ${exit_code}`
  const fence = "```"
  const output =
    tail.trimEnd() === "" ? [] : ["", `${fence}text`, ...tail.trimEnd().split("\n"), fence]
  return [`Execution ${execution_id} ran \`${check}\`: ${end}`, ...output, ""]
}
