import { type TaskReport, taskReport } from "../../../workflow/run/task-report.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { inWorld, workOptions, workPath } from "../../work/in-world.ts"

export const tasksReportCommand = command({
  usage: ["tasks report [OPTIONS] FILE"],
  about: `\
Prints what a reviewer wants to know, in Markdown: what is done and by which trial, what is not and
why, how often the marker of each step stands in its transcript, and known issues. All of it is
read from the record: nobody writes it.`,
  options: { json: flag("one JSON document"), ...workOptions },
  examples: { "for a review": "cc-executor tasks report TASKS.md > report.md" },
  operands: { atLeast: 1, atMost: 1, what: "The file" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const report = await inWorld(context, values, (world) => taskReport(world, path))
    const lines = values.json === true ? [JSON.stringify(report)] : reportLines(report)
    await context.stdout.write(asLines(lines))
    return 0
  },
})

function reportLines({ path, done, open, markers, known_issues: issues }: TaskReport): string[] {
  const none = ["- none"]
  const listed = (lines: string[]) => (lines.length === 0 ? none : lines)
  return [
    `# Report on ${path}`,
    "",
    "## Done",
    "",
    ...listed(
      done.map(({ id, title, how, trial }) => {
        return `- ${id} ${title}: ${how}${trial === null ? "" : ` by trial ${trial}`}`
      }),
    ),
    "",
    "## Not done",
    "",
    ...listed(open.map(({ id, title, why }) => `- ${id} ${title}: ${why}`)),
    "",
    "## Markers",
    "",
    ...listed(
      markers.map(({ task, trial, step, execution_id, marker, times }) => {
        const of = task === null ? "" : `${task}, `
        const found = times === null ? "the transcript is no longer kept" : `${times} times`
        return `- ${of}trial ${trial}, ${step}: ${marker} in ${execution_id}: ${found}`
      }),
    ),
    "",
    "## Known issues",
    "",
    ...listed(issues.map((issue) => `- ${issue}`)),
  ]
}
