import { runTasks } from "../../../workflow/run/run-tasks.ts"
import { workStatus } from "../../../workflow/run/work-status.ts"
import { flag, option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { followRun } from "../../work/follow-run.ts"
import { workPath } from "../../work/in-world.ts"
import { readRunOptions, runOptions } from "../../work/run-arguments.ts"
import { runInBackground } from "../../work/run-in-background.ts"
import { taskTable } from "../../work/status-text.ts"

export const tasksRunCommand = command({
  usage: ["tasks run [OPTIONS] FILE"],
  about: `\
Does the open tasks of a list in their order. The checks of a task must fail before its agent
begins, and pass when it has finished: then its box is ticked, and what it has written becomes a
commit on the branch cc-executor/NAME, where the next task begins. Without git, it is copied into
the directory of the list. An agent may ask three questions per task; \`inbox\` lists them.

Exits with 0 if every task is done, otherwise with 1, and says what is missing.`,
  options: {
    task: option("ID", "only this task, whatever its state"),
    "keep-going": flag("go on with the next task after one that has failed"),
    ...runOptions,
  },
  examples: {
    "all that is open": "cc-executor tasks run TASKS.md",
    "one task": "cc-executor tasks run --task T03 TASKS.md",
  },
  operands: { atLeast: 1, atMost: 1, what: "The file" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const options = readRunOptions(values)
    if (values.detach === true) {
      return runInBackground(context, ["tasks", "run"], values, path)
    }
    const task = values.task ?? null
    const keepGoing = values["keep-going"] === true
    const { run, exitCode } = await followRun(context, values, (world, how) =>
      runTasks(world, path, { ...options, task, keepGoing, ...how }),
    )
    const status = workStatus(run.state)
    const { branch, missing, costUsd: cost_usd } = run
    if (values.json === true) {
      const trials = run.trials.map(({ announcement, verdict, reasons }) => {
        const { sequence, work } = announcement
        return { trial: sequence, task: work.item ?? null, verdict, reasons }
      })
      const document = { ...status, run: { trials, branch, cost_usd, missing } }
      await context.stdout.write(`${JSON.stringify(document)}\n`)
    } else {
      const where = run.trials.some(({ verdict }) => verdict === "PASSED") && branch !== null
      const merge = where ? [`To take over what was done: git merge ${branch}`] : []
      const lines = [...taskTable(context, status), ...missing, ...merge]
      await context.stdout.write(asLines(lines))
    }
    return exitCode ?? (missing.length === 0 ? 0 : 1)
  },
})
