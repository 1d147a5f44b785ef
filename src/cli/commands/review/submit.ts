import { resolve } from "node:path"
import { submitReview } from "../../../workflow/run/review/submit-review.ts"
import { readInput } from "../../agents/read-input.ts"
import { flag, option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { inWorld, workOptions, workPath } from "../../work/in-world.ts"

export const reviewSubmitCommand = command({
  usage: ["review submit [OPTIONS] REQUEST < REVIEW.json"],
  about: `\
Writes the two files of a review, from one JSON document on standard input: {"feedback": "Markdown",
"fixes": […]}. It is refused, and nothing is written, where a fix is not in its form, or where the
feedback says of an execution what the record does not. The MCP tool review_submit does the same.`,
  options: {
    out: option("DIR", "where they are to be (default: executor/)"),
    json: flag("one JSON document"),
    ...workOptions,
  },
  examples: {
    "from a program": "my-model | cc-executor review submit orchestrator/017_log_review_request.md",
  },
  operands: { atLeast: 1, atMost: 1, what: "The request" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const out = values.out === undefined ? null : resolve(context.cwd, values.out)
    const input = await readInput(context)
    const paths = await inWorld(context, values, (world) => submitReview(world, path, input, out))
    const lines = values.json === true ? [JSON.stringify(paths)] : [paths.feedback, paths.fixes]
    await context.stdout.write(asLines(lines))
    return 0
  },
})
