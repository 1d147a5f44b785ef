import { resolve } from "node:path"
import type { Reverified } from "../../../workflow/run/review/reverify-fixes.ts"
import { type ReviewRun, runReview } from "../../../workflow/run/review/run-review.ts"
import { option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { followRun } from "../../work/follow-run.ts"
import { workPath } from "../../work/in-world.ts"
import { readRunOptions, runOptions } from "../../work/run-arguments.ts"
import { runInBackground } from "../../work/run-in-background.ts"

export const reviewRunCommand = command({
  usage: ["review run [OPTIONS] REQUEST"],
  about: `\
Has a request answered: the reviewer works in a copy of the directory, runs the usage checks there,
and writes SEQ_COMPONENT_review_feedback.md and SEQ_COMPONENT_fixes.json, which come into executor/.
What the feedback says of executions is compared with the record. A reviewer whose files are not in
their form is told what is wrong, with line and column, and gets one more attempt. One that changes
anything else is refused. The fixes of the round before are verified first: those that were undone
stand in the new list.

Exits with 0 if both files are there.`,
  options: {
    reviewer: option("AGENT", "who reviews: claude, or a command line (default: as requested)"),
    out: option("DIR", "where the two files are to be (default: executor/)"),
    ...runOptions,
  },
  examples: {
    "a request": "cc-executor review run orchestrator/017_websocket_review_request.md",
  },
  operands: { atLeast: 1, atMost: 1, what: "The request" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const given = readRunOptions(values)
    const out = values.out === undefined ? null : resolve(context.cwd, values.out)
    if (values.detach === true) {
      const absolute = out === null ? {} : { out }
      return runInBackground(context, ["review", "run"], { ...values, ...absolute }, path)
    }
    const { reviewer = null } = values
    const { self } = context
    const { run, exitCode } = await followRun(context, values, (world, how) =>
      runReview(world, path, { ...given, ...how, reviewer, out, self }),
    )
    const lines = values.json === true ? [JSON.stringify(documentOf(run))] : linesOf(run)
    await context.stdout.write(asLines(lines))
    return exitCode ?? (run.delivered === null ? 1 : 0)
  },
})

function documentOf({ trials, delivered, faults, reverified, costUsd: cost_usd }: ReviewRun) {
  const last = reverified && {
    path: reverified.state.path,
    holds: reverified.holds.map(({ id }) => id),
    undone: reverified.undone.map(({ id }) => id),
  }
  return {
    delivered,
    refused: faults,
    last_round: last,
    trials: trials.map(({ announcement, verdict, reasons }) => {
      return { trial: announcement.sequence, verdict, reasons }
    }),
    cost_usd,
  }
}

function linesOf({ delivered, faults, reverified }: ReviewRun): string[] {
  const round = reverified === null ? [] : roundLines(reverified)
  if (delivered === null) {
    return [...round, "The review is refused:", ...faults.map((fault) => `  ${fault}`)]
  }
  return [
    ...round,
    delivered.feedback,
    delivered.fixes,
    `To have it put right: cc-executor review fix ${delivered.fixes}`,
  ]
}

function roundLines({ holds, undone }: Reverified): string[] {
  if (holds.length + undone.length === 0) return []
  const hold = holds.length === 1 ? "1 fix holds" : `${holds.length} fixes hold`
  const were = undone.length === 1 ? "1 was undone" : `${undone.length} were undone`
  return [
    `Of the round before, ${hold}, ${were}${undone.length === 0 ? "." : ":"}`,
    ...undone.map(({ id, issue }) => `  ${id} has been undone: ${issue}`),
  ]
}
