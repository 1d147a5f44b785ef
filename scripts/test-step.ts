import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bun, type Step } from "./steps.ts"

/** `bun test` with the given arguments, then one line: `N passed, N failed, N skipped`. */
export function testStep(args: string[]): Step {
  return { name: "test", run: () => test(args) }
}

async function test(args: string[]): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "cc-executor-junit-"))
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => rm(folder, { recursive: true }))
  const report = join(folder, "junit.xml")
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`]
  const exitCode = await bun("test", ...reporter, ...args)
  const counts = await readCounts(report)

  // A file that does not load has no test to fail and is not in the report: the exit code tells.
  const untold = exitCode !== 0 && counts.failed === 0
  if (untold)
    console.log("\nbun test failed without a failed test: no file ran, or one did not load.")
  const failed = untold ? 1 : counts.failed
  console.log(`\n${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped`)
  return failed > 0 && exitCode === 0 ? 1 : exitCode
}

type Counts = { passed: number; failed: number; skipped: number }

async function readCounts(report: string): Promise<Counts> {
  const file = Bun.file(report)
  const xml = (await file.exists()) ? await file.text() : ""
  const totals = /<testsuites\b[^>]*>/.exec(xml)?.[0] ?? ""
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(totals)?.[1] ?? 0)
  const failed = count("failures") + count("errors")
  const skipped = count("skipped")
  return { passed: count("tests") - failed - skipped, failed, skipped }
}
