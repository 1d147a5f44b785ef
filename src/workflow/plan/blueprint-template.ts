import { yamlText } from "./templates.ts"

/**
 * The blueprint of a project: what it is to be, and the tasks that lead there. Each of their checks
 * fails in an empty directory, and can be kept as it is.
 */
export function blueprintTemplate(name: string): string {
  return `---
name: ${yamlText(name)}
agent: claude   # or a command: it reads the task from standard input
guards: []      # commands that must pass before and after every task, such as npm run lint
setup: []       # what checks need in a fresh copy, such as npm ci
---

# ${name}

This is the blueprint of a project, and a task list at once: what stands in prose is for people
and agents, and is never run; what stands behind \`Check:\` is run before and after a task. Replace
the prose, keep the order, and run \`cc-executor tasks check\` on this file, then
\`cc-executor tasks run\`.

## Purpose

What it does, for whom, and how they know that it works. Two or three sentences.

## What it must do

| # | requirement | shown by |
|---|---|---|
| R1 | the first thing it must do | T03 |
| R2 | what it must never do | T04 |

## How it is built

The parts, and who calls whom. What is decided already (language, libraries, where it runs), and
what is not.

## Tasks

- [ ] **T01 – Say what it is**
  Goal: a stranger knows after one minute what this is, and how to run it.
  Check: \`grep -q '^# ' README.md && grep -qi '^## usage' README.md\`

- [ ] **T02 – The smallest thing that runs, and a script that tests it**
  Goal: test.sh runs every test in tests/, and fails where one fails, or where there is none.
  Check: \`test -x test.sh && ./test.sh\`

- [ ] **T03 – The first thing it must do (R1)**
  Goal: R1 works, and a test in tests/ shows it.
  Check: \`ls tests/*r1* && ./test.sh\`

- [ ] **T04 – What it must never do (R2)**
  Goal: a test in tests/ tries it, and it is refused.
  Check: \`ls tests/*r2* && ./test.sh\`

- [ ] **T05 – It is what was wanted**
  Goal: whoever asked for it has used it, and accepts it with \`cc-executor tasks accept\`.

## Not to be done

What somebody could expect, and will not get.
`
}
