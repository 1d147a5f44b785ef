import { checkDelivery } from "../../../workflow/run/review/check-delivery.ts"
import { command } from "../../command.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { expected, workPath } from "../../work/in-world.ts"

export const reviewCheckCommand = command({
  usage: ["review check FEEDBACK.md FIXES.json"],
  about: `\
Checks whether the two files of a review have their form, and says what is wrong, with line and
column. Nothing is run. Older lists have other forms, which \`review fix\` reads as well.`,
  options: {},
  examples: {
    "before they are delivered":
      "cc-executor review check 017_log_review_feedback.md 017_log_fixes.json",
  },
  operands: { atLeast: 2, atMost: 2, what: "The feedback, and the list of fixes," },
  async run(context, { operands }) {
    const [feedback = "", fixes = ""] = operands.map((file) => workPath(context, file))
    const faults = await expected(async () => checkDelivery(feedback, fixes))
    await context.stdout.write(asLines(faults))
    return faults.length === 0 ? 0 : 1
  },
})
