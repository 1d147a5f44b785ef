import { relative } from "node:path"
import { openWorks } from "../../workflow/run/open-works.ts"
import type { WorkStatus } from "../../workflow/run/work-status.ts"
import { flag } from "../arguments.ts"
import { command } from "../command.ts"
import { asLines } from "../terminal/terminal-text.ts"
import { inWorld, workOptions, workPath } from "../work/in-world.ts"
import { countsText } from "../work/status-text.ts"

export const resumeWorkCommand = command({
  usage: ["resume-work [OPTIONS] [DIR]"],
  about: `\
For whoever has lost the context: which prompts and task lists there are at or below this directory,
what was last done, what is open, and which command goes on. Nothing is run, and nothing written.`,
  options: { json: flag("one JSON document"), ...workOptions },
  examples: { "where was I?": "cc-executor resume-work" },
  operands: { atLeast: 0, atMost: 1, what: "The directory" },
  async run(context, { values, operands }) {
    const directory = workPath(context, operands[0])
    const found = await inWorld(context, values, (world) => openWorks(world, directory))
    const lines =
      values.json === true
        ? [JSON.stringify(found)]
        : [
            ...found.works
              .slice(0, mostWorks)
              .flatMap((work, index) => [
                ...(index === 0 ? [] : [""]),
                ...workLines(directory, work),
              ]),
            ...moreLine(found.works.length),
            ...found.unreadable,
          ]
    await context.stdout.write(asLines(lines.length === 0 ? [`No work in ${directory}.`] : lines))
    return 0
  },
})

/** What fits on a page. */
const mostWorks = 10
const mostOpen = 5

function moreLine(count: number): string[] {
  return count <= mostWorks ? [] : [`… and ${count - mostWorks} more: see --json`]
}

function workLines(directory: string, status: WorkStatus): string[] {
  const file = relative(directory, status.path)
  const last = status.last_trial === null ? "never tried" : `last trial ${status.last_trial}`
  const under = status.open.map(({ sequence, item }) => {
    return `  under way: trial ${sequence}${item === null ? "" : ` of ${item}`}`
  })
  const own = linesOfKind(status, file)
  const problems = status.problems.slice(0, mostOpen).map((problem) => `  not right: ${problem}`)
  return [`${file} (${last})`, ...under, ...own, ...problems]
}

function linesOfKind(status: WorkStatus, file: string): string[] {
  switch (status.kind) {
    case "tasks":
      return taskLines(status, "tasks are done", `cc-executor tasks run ${file}`)
    case "fixes":
      return taskLines(status, "fixes are done", `cc-executor review fix ${file}`)
    case "review":
      return [`  not delivered yet`, `  go on: cc-executor review run ${file}`]
    case "prompt":
      return promptLines(status, file)
  }
}

function taskLines({ tasks = [] }: WorkStatus, what: string, goOn: string): string[] {
  const done = tasks.filter(({ state }) => state === "verified" || state === "accepted")
  const open = tasks.filter((task) => !done.includes(task))
  const latest = done.toSorted((one, other) => (one.trial ?? 0) - (other.trial ?? 0)).at(-1)
  const more = open.length > mostOpen ? [`  … and ${open.length - mostOpen} more`] : []
  return [
    `  ${done.length} of ${tasks.length} ${what}`,
    ...(latest === undefined ? [] : [`  last done: ${latest.id} ${latest.title}`]),
    ...open.slice(0, mostOpen).map(({ id, title, why }) => `  open: ${id} ${title}: ${why}`),
    ...more,
    ...(open.length === 0 ? [] : [`  go on: ${goOn}`]),
  ]
}

function promptLines(status: WorkStatus, file: string): string[] {
  return [`  ${countsText(status)}`, `  go on: cc-executor prompt run ${file}`]
}
