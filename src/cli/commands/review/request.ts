import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { newRequest } from "../../../workflow/run/review/new-request.ts"
import { option, repeatable } from "../../arguments.ts"
import { command } from "../../command.ts"
import type { Context } from "../../context.ts"
import { orFail } from "../../failure.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { expected } from "../../work/in-world.ts"

export const reviewRequestCommand = command({
  usage: ["review request [OPTIONS] COMPONENT FILE…"],
  about: `\
Writes orchestrator/SEQ_COMPONENT_review_request.md, which says what is to be reviewed, and explains
itself: who reviews, who puts right what was found, and what each of them should know. SEQ is the
next number of all rounds in orchestrator/ and executor/. If there was a round of this component
before, its fixes will be verified first. Prints the path.`,
  options: {
    reviewer: option("AGENT", "who reviews: claude, or a command line (default: claude)"),
    fixer: option("AGENT", "who puts things right: claude, or a command line (default: claude)"),
    check: repeatable("COMMAND", "a usage check, which the reviewer has to run"),
    setup: repeatable("COMMAND", "what checks need in a fresh copy, such as npm ci"),
    "reviewer-context": option("FILE", "what the reviewer should know, in Markdown"),
    "fixer-context": option("FILE", "what the fixer should know, in Markdown"),
    out: option("DIR", "where the request is to be (default: orchestrator/)"),
  },
  examples: {
    "have a module reviewed": "cc-executor review request websocket src/websocket.py",
    "by another model, which has to run the tests":
      "cc-executor review request --reviewer my-model --check pytest logs src/logs.py",
  },
  operands: { atLeast: 2, what: "The component, and the files to be reviewed," },
  async run(context, { values, operands }) {
    const [component = "", ...files] = operands
    const { reviewer = "claude", fixer = "claude", check = [], setup = [], out } = values
    const path = await expected(async () =>
      newRequest({
        component,
        files,
        reviewer,
        fixer,
        setup,
        cwd: context.cwd,
        checks: check,
        out: out === undefined ? null : resolve(context.cwd, out),
        forReviewer: textOf(context, values["reviewer-context"]),
        forFixer: textOf(context, values["fixer-context"]),
      }),
    )
    await context.stdout.write(asLines([path]))
    return 0
  },
})

function textOf({ cwd }: Pick<Context, "cwd">, file: string | undefined): string {
  if (file === undefined) return ""
  return orFail(
    () => readFileSync(resolve(cwd, file), "utf8"),
    (errno) => `${file} cannot be read (${errno}).`,
  )
}
