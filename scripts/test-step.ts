import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { countTests } from "./junit-report.ts"
import { bun, type Step } from "./steps.ts"

/** `bun test` with the given arguments, then one line: `N passed, N failed, N skipped`. */
export function testStep(args: string[]): Step {
  return { name: "test", run: () => test(args) }
}

async function test(args: string[]): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "cc-executor-junit-"))
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => rm(folder, { recursive: true }))
  // Whoever wants to keep the report says where.
  const report = process.env["CC_EXECUTOR_TEST_JUNIT"] ?? join(folder, "junit.xml")
  await mkdir(dirname(report), { recursive: true })
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`]
  const exitCode = await bun("test", ...reporter, ...args)
  const counts = await countTests(report)

  // A file that does not load has no test to fail and is not in the report: the exit code tells.
  const untold = exitCode !== 0 && counts.failed === 0
  if (untold)
    console.log("\nbun test failed without a failed test: no file ran, or one did not load.")
  const failed = untold ? 1 : counts.failed
  console.log(`\n${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped`)
  return failed > 0 && exitCode === 0 ? 1 : exitCode
}
