import type { ReviewRequest } from "../../documents/review/request.ts"
import { reviewId } from "../../documents/review/review-name.ts"

export type ReviewBriefing = {
  request: ReviewRequest
  file: string // the request, where the reviewer works
  feedback: string // what it is to write, both relative to there
  fixes: string
  date: string
  usage: string // the command line that runs the usage checks
  round: PreviousRound | null
  /** What was wrong with what it has delivered before; empty for the first attempt. */
  faults: readonly string[]
}

/** What became of the fixes of the round before, seen just now. */
export type PreviousRound = {
  id: string
  holds: readonly string[]
  undone: readonly string[]
  open: readonly string[]
}

/** What a reviewer is told. */
export function reviewPrompt(briefing: ReviewBriefing): string {
  const { request, file, feedback, fixes, round, faults } = briefing
  const { files, settings, forReviewer, name } = request
  return [
    `Review ${name.component} (review ${reviewId(name)}). What is asked for is in ${file}.`,
    ...(files.length === 0 ? [] : ["", "To be reviewed:", "", ...files.map((one) => `- ${one}`)]),
    ...(forReviewer === "" ? [] : ["", "What you should know:", "", forReviewer]),
    ...usageLines(
      settings.checks.map(({ run }) => run),
      briefing,
    ),
    ...(round === null ? [] : roundLines(round)),
    "",
    "Write two files, and change nothing else, or your review is refused:",
    "",
    `- ${feedback}: what you have found, in Markdown.`,
    "  Name executions by their full ids, with their exit codes; a code block right below such a",
    "  line must have been printed by that execution.",
    `- ${fixes}: what is to be done, in this form:`,
    "",
    formOf(briefing),
    "",
    "`severity` is critical, major or minor; `line` may be null. `verification` is a command for",
    "bash that fails now, and succeeds once it is fixed: it is run before and after, and nobody's",
    "word counts besides. Where nothing is to be done, `fixes` is an empty list.",
    ...(faults.length === 0 ? [] : faultLines(briefing)),
    "",
  ].join("\n")
}

function usageLines(checks: readonly string[], { usage }: ReviewBriefing): string[] {
  if (checks.length === 0) return []
  return [
    "",
    "Run these usage checks yourself, and name the execution of each in your feedback:",
    "",
    ...checks.map((run) => `    ${run}`),
    "",
    "This runs all of them, and says their ids, exit codes and output:",
    "",
    `    ${usage}`,
  ]
}

function roundLines({ id, holds, undone, open }: PreviousRound): string[] {
  const listed = (what: string, which: readonly string[]) =>
    which.length === 0 ? [] : [`- ${what}: ${which.join("; ")}`]
  return [
    "",
    `The round before was ${id}. Its fixes were verified just now:`,
    "",
    ...listed("done", holds),
    ...listed("done once, and undone since", undone),
    ...listed("never done", open),
  ]
}

function formOf({ request: { name }, date }: ReviewBriefing): string {
  const example = {
    review_id: reviewId(name),
    component: name.component,
    date,
    fixes: [
      {
        id: 1,
        severity: "critical",
        file: "src/example.py",
        line: 45,
        issue: "what is wrong, and why",
        fix: "what to do",
        verification: "pytest -q tests/test_example.py",
      },
    ],
  }
  return JSON.stringify(example, null, 2)
}

function faultLines({ faults, feedback, fixes }: ReviewBriefing): string[] {
  return [
    "",
    "You have done this before, and it was refused. What you wrote is beside the two files, as",
    `${feedback}.previous and ${fixes}.previous. This was wrong with it:`,
    "",
    ...faults.map((fault) => `- ${fault}`),
    "",
    "There is no further attempt.",
  ]
}
