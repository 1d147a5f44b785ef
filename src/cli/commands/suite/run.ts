import { basename, extname, join, relative, resolve } from "node:path"
import { readSuite } from "../../../workflow/run/suite/read-suite.ts"
import { writeReport } from "../../../workflow/run/suite/report-folder.ts"
import { runSuite } from "../../../workflow/run/suite/run-suite.ts"
import { reportAsText } from "../../../workflow/suite/report-text.ts"
import { hasPassed, type SuiteReport } from "../../../workflow/suite/suite-report.ts"
import { flag, option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { UsageFailure } from "../../failure.ts"
import { untilTold } from "../../terminal/interrupts.ts"
import { countOption } from "../../time.ts"
import { expected, inWorld, workPath } from "../../work/in-world.ts"
import { readRunOptions, runOptions } from "../../work/run-arguments.ts"
import { runInBackground } from "../../work/run-in-background.ts"
import { suiteDocument } from "../../work/suite-document.ts"
import { showSuite } from "../../work/suite-progress.ts"

const { "max-cost": _, ...sharedOptions } = runOptions

export const suiteRunCommand = command({
  usage: ["suite run [OPTIONS] FILE [--categories NAME,…]"],
  about: `\
Runs the tests of a suite, which is a JSON file with categories of commands, and of requests to an
agent. A test passes if it exits with 0 and each of its expected patterns stands in what it wrote:
what it was told does not count. Prints a report, and writes it as report.txt, junit.xml and
index.html to reports/NAME in this directory. Every test is an execution, which the report names.

Exits with 0 if every test has passed, otherwise with 1.`,
  options: {
    categories: option("NAMES", "only the tests of these categories, with commas between them"),
    jobs: option("N", "how many tests at a time (default 1)", { short: "j" }),
    agent: option("AGENT", "who gets the requests: claude, or a command that reads them"),
    report: option("DIR", "where the report is written (default reports/NAME)"),
    ...sharedOptions,
    timeout: option("TIME", "stop a test that has no timeout of its own after this long"),
    json: flag("one JSON document instead of the report's text"),
  },
  examples: {
    "all of it, four tests at a time": "cc-executor suite run -j 4 tests/suite.json",
    "two categories": "cc-executor suite run tests/suite.json --categories simple,parallel",
    "with another agent": "cc-executor suite run --agent 'python3 agent.py' tests/suite.json",
  },
  operands: { atLeast: 1, what: "The file" },
  async run(context, { values, operands }) {
    const [file, ...more] = operands
    const path = workPath(context, file)
    const wanted = categoriesIn(values.categories, more)
    const jobs = countOption("--jobs", values.jobs ?? "1")
    if (jobs < 1) throw new UsageFailure("--jobs: at least 1.")
    const { session, timeoutSeconds } = readRunOptions(values)
    const suite = await expected(async () => readSuite(path, wanted))
    const named = join("reports", basename(path, extname(path)))
    const folder = resolve(context.cwd, values.report ?? named)
    if (values.detach === true) {
      const given = { ...values, report: folder }
      const chosen = wanted.length === 0 ? {} : { categories: wanted.join(",") }
      return runInBackground(context, ["suite", "run"], { ...given, ...chosen }, path)
    }
    using told = untilTold(context)
    await using view = showSuite(context)
    const write = notTooOften((report) => writeReport(folder, report))
    const report = await inWorld(context, values, async (world) => {
      const agent = values.agent ?? null
      const { signal } = told
      const { tell } = view
      const options = { cwd: context.cwd, agent, session, timeoutSeconds, jobs, signal, tell }
      const done = await runSuite(world, suite, { ...options, reported: write })
      await writeReport(folder, done)
      return done
    })
    await view[Symbol.asyncDispose]()
    const page = relative(context.cwd, join(folder, "index.html"))
    const text = `${reportAsText(report)}\nThe same as a page: ${page}\n`
    const json = `${JSON.stringify(suiteDocument(report, folder))}\n`
    await context.stdout.write(values.json === true ? json : text)
    return told.exitCode ?? (hasPassed(report) ? 0 : 1)
  },
})

/** Further words are categories too, where some are asked for. */
function categoriesIn(given: string | undefined, more: readonly string[]): string[] {
  if (given === undefined && more.length > 0) {
    throw new UsageFailure(`Unexpected argument: ${more.join(" ")}.`)
  }
  const names = [given ?? "", ...more].flatMap((text) => text.split(","))
  const wanted = names.map((name) => name.trim()).filter((name) => name !== "")
  if (given === undefined || wanted.length > 0) return wanted
  throw new UsageFailure("--categories: name at least one.")
}

const leastMsBetween = 1000

/** A suite of thousands of short tests writes its report once in a while. */
function notTooOften(write: (report: SuiteReport) => Promise<void>): typeof write {
  let lastMs = Number.NEGATIVE_INFINITY
  return async (report) => {
    const nowMs = performance.now()
    if (nowMs - lastMs < leastMsBetween) return
    lastMs = nowMs
    await write(report)
  }
}
