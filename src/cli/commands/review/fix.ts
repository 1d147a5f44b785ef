import { runFixes } from "../../../workflow/run/review/run-fixes.ts"
import { workStatus } from "../../../workflow/run/work-status.ts"
import { option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { askForCommands } from "../../work/ask-for-commands.ts"
import { fixTable } from "../../work/fix-table.ts"
import { followRun } from "../../work/follow-run.ts"
import { workPath } from "../../work/in-world.ts"
import { readRunOptions, runOptions } from "../../work/run-arguments.ts"
import { runInBackground } from "../../work/run-in-background.ts"

export const reviewFixCommand = command({
  usage: ["review fix [OPTIONS] FIXES.json"],
  about: `\
Puts right what a review has found, one fix after the other, the critical first. The verification of
a fix must fail before the fixer begins, and pass when it has finished: then it is FIXED, and what
the fixer has written becomes a commit on the branch cc-executor/NAME, where the next one begins.
What passes before anything is changed, and fails in an empty directory, is NO_CHANGE_NEEDED; all
else is FAILED, whatever the fixer says. A fixer must not change tests, or what the verification
tests with. A verification in prose is not run: on a terminal, you are asked what it means;
elsewhere, \`review verification\` gives it a command.

Exits with 0 if nothing is left to do, otherwise with 1, and says what is missing.`,
  options: {
    fix: option("ID", "only this fix, whatever its state"),
    fixer: option("AGENT", "who puts it right: claude, or a command line (default: as requested)"),
    ...runOptions,
  },
  examples: {
    "all that is open": "cc-executor review fix executor/017_websocket_fixes.json",
    "one of them, by another program":
      "cc-executor review fix --fix 3 --fixer my-agent executor/017_websocket_fixes.json",
  },
  operands: { atLeast: 1, atMost: 1, what: "The list of fixes" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const options = readRunOptions(values)
    if (values.detach === true) {
      return runInBackground(context, ["review", "fix"], values, path)
    }
    const { fix = null, fixer = null } = values
    if (values.json !== true) await askForCommands(context, values, path, fix)
    const { run, exitCode } = await followRun(context, values, (world, how) =>
      runFixes(world, path, { ...options, fix, fixer, ...how }),
    )
    const status = workStatus(run.state)
    const { branch, missing, costUsd: cost_usd } = run
    if (values.json === true) {
      const trials = run.trials.map(({ announcement, verdict, reasons }) => {
        const { sequence, work } = announcement
        return { trial: sequence, fix: work.item ?? null, verdict, reasons }
      })
      const document = { ...status, run: { trials, branch, cost_usd, missing } }
      await context.stdout.write(`${JSON.stringify(document)}\n`)
    } else {
      const isNew = status.tasks?.some((one) => one.status === "FIXED") === true
      const merge =
        isNew && branch !== null ? [`To take over what was done: git merge ${branch}`] : []
      await context.stdout.write(asLines([...fixTable(context, status), ...missing, ...merge]))
    }
    return exitCode ?? (missing.length === 0 ? 0 : 1)
  },
})
