import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type Counts, countTests, joinReports } from "./junit-report.ts"
import { bun, root, type Step } from "./steps.ts"
import { filesOf, type Suite } from "./test-suites.ts"

/** Arguments for one run of `bun test`. */
type Run = string[]

/** A test that waits for what never comes must end; one that is slow on a busy machine must not. */
const timeoutMs = 60_000

/** Twice the cores of a small machine: most tests wait for a process most of the time. */
const workers = 4

/** Tests, and how many of them passed; null as long as they have not run. */
export type TestStep = Step & { counts: Counts | null }

/** Some suites, with further arguments for `bun test`. */
export function suiteStep(suites: readonly Suite[], args: readonly string[]): TestStep {
  return testStep(() => runsOf(suites, args))
}

/** `bun test` with arguments as they were given: files, names, options. */
export function plainTestStep(args: readonly string[]): TestStep {
  return testStep(async () => [[...args]])
}

function testStep(runs: () => Promise<Run[]>): TestStep {
  const step: TestStep = {
    name: "test",
    counts: null,
    async run() {
      const { counts, exitCode } = await test(await runs())
      step.counts = counts
      return exitCode
    },
  }
  return step
}

/**
 * Stress tests measure memory and cost, a machine in software takes all there is of both, and the
 * images are built once, by one engine: each of these suites is a process that runs alone.
 */
const alone: readonly Suite[] = ["image", "machine", "stress"]

async function runsOf(suites: readonly Suite[], args: readonly string[]): Promise<Run[]> {
  const runs: Run[] = []
  const together = suites.filter((suite) => !alone.includes(suite))
  // Files of one worker share its modules, as they do where one process runs them all.
  const parallel = [`--parallel=${workers}`, "--no-isolate"]
  if (together.length > 0) runs.push([...parallel, ...args, ...(await filesOf(together))])
  for (const suite of alone) {
    if (suites.includes(suite)) runs.push([...args, ...(await filesOf([suite]))])
  }
  return runs
}

/** All of them, whatever fails. */
async function test(runs: readonly Run[]): Promise<{ counts: Counts; exitCode: number }> {
  const folder = await mkdtemp(join(tmpdir(), "cc-executor-junit-"))
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => rm(folder, { recursive: true }))
  const executable = join(root, "dist/cc-executor")
  const before = processesOf(executable) // a developer's own service, say
  const total: Counts = { passed: 0, failed: 0, skipped: 0 }
  const reports: string[] = []
  let worst = 0
  for (const [index, run] of runs.entries()) {
    const report = join(folder, `${index}.xml`)
    reports.push(report)
    const options = [`--timeout=${timeoutMs}`, "--reporter=junit", `--reporter-outfile=${report}`]
    const exitCode = await bun("test", ...options, ...run)
    const counts = await countTests(report)
    // A file that does not load has no test to fail and is not in the report: the exit code tells.
    const isUntold = exitCode !== 0 && counts.failed === 0
    if (isUntold) {
      console.log("\nbun test failed without a failed test: no file ran, or one did not load.")
    }
    total.passed += counts.passed
    total.failed += isUntold ? 1 : counts.failed
    total.skipped += counts.skipped
    worst ||= counts.failed > 0 ? 1 : exitCode
  }
  const left = processesOf(executable).filter((command) => !before.includes(command))
  for (const command of left) console.log(`\nThe tests left a process behind: ${command}`)
  total.failed += left.length
  worst ||= left.length === 0 ? 0 : 1
  // Whoever wants to keep the report says where.
  const kept = process.env["TEST_JUNIT"] ?? ""
  if (kept !== "") {
    await mkdir(dirname(kept), { recursive: true })
    await Bun.write(kept, await joinReports(reports))
  }
  return { counts: total, exitCode: worst }
}

/** Command lines of everything that runs a program, under its name or as it was before a build. */
function processesOf(program: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const executed = readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, "")
      if (executed !== program) return []
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`]
    } catch {
      return [] // not a process, another user's, or gone by now
    }
  })
}
