import { type ReviewName, reviewId } from "../../documents/review/review-name.ts"

export type RequestedReview = {
  name: ReviewName
  files: readonly string[]
  reviewer: string
  fixer: string
  checks: readonly string[]
  setup: readonly string[]
  previous: string | null
  forReviewer: string
  forFixer: string
}

/** A request that explains itself. */
export function requestText(asked: RequestedReview): string {
  const { name, files, reviewer, fixer, checks, setup, previous } = asked
  const list = (values: readonly string[]) =>
    `[${values.map((one) => JSON.stringify(one)).join(", ")}]`
  const before =
    previous === null
      ? "# previous: executor/…_fixes.json"
      : `previous: ${JSON.stringify(previous)}`
  return `---
review: ${JSON.stringify(reviewId(name))}
files: ${list(files)}
reviewer: ${JSON.stringify(reviewer)}   # claude, or a command: reads what to do from its input
fixer: ${JSON.stringify(fixer)}      # puts right what was found, one thing after the other
checks: ${list(checks)}   # usage checks: the reviewer runs them, and names their executions
setup: ${list(setup)}     # what checks need in a fresh copy, such as npm ci
guards: []    # commands that must pass before and after each fix, such as npm run lint
# protect: [tests/]   # what a fixer must not change; without it, tests and what checks test with
${before}   # the round before: its fixes are verified first
---

# Review request ${name.seq}: ${name.component}

What is above is read by \`cc-executor review run\`; what is below, by the reviewer and the fixer.
Everything may be edited until the review has been delivered.

${files.map((file) => `- \`${file}\``).join("\n")}

## For the reviewer

${asked.forReviewer.trim() || aboutContext}

## For the fixer

${asked.forFixer.trim() || aboutHabits}
`
}

const aboutContext = "<!-- What this is, what matters about it, and what is known already. -->"
const aboutHabits = "<!-- What must stay as it is, and how things are done here. -->"
