import type { SuiteCategory, SuiteTest } from "../../suite/suite.ts"
import type { SuiteReport } from "../../suite/suite-report.ts"
import { notRun, type TestResult } from "../../suite/test-result.ts"
import { atOnce } from "../at-once.ts"
import type { World } from "../world.ts"
import { type AskedQuestion, runTest, type TestOptions } from "./run-test.ts"

export type SuiteToRun = { id: string; path: string; categories: readonly SuiteCategory[] }

export type SuiteOptions = Omit<TestOptions, "suite" | "asks"> & {
  jobs: number
  /** Whoever looks at it meanwhile finds what is known so far. */
  reported(report: SuiteReport): Promise<void>
  tell(progress: SuiteProgress): void
}

export type SuiteProgress =
  | { kind: "begun"; test: SuiteTest }
  | { kind: "ended"; result: TestResult }
  | ({ kind: "question"; test: SuiteTest } & AskedQuestion)

/** Runs tests of a suite in their order, some at once. */
export async function runSuite(
  world: World,
  { id, path, categories }: SuiteToRun,
  options: SuiteOptions,
): Promise<SuiteReport> {
  const tests = categories.flatMap((category) => category.tests)
  const results = tests.map((test) => notRun(test, "not-run"))
  const startedAt = world.now().toISOString()
  const reportNow = (): SuiteReport => ({ id, path, startedAt, results: [...results] })
  const left = [...tests.entries()]
  await options.reported(reportNow())
  await atOnce(Math.min(options.jobs, tests.length), options.signal, async (signal) => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      if (signal.aborted) return
      const [index, test] = next
      results[index] = notRun(test, "unfinished")
      options.tell({ kind: "begun", test })
      await options.reported(reportNow())
      const asks = (question: AskedQuestion) =>
        options.tell({ kind: "question", test, ...question })
      const result = await runTest(world, test, { ...options, suite: id, signal, asks })
      results[index] = result
      options.tell({ kind: "ended", result })
      await options.reported(reportNow())
    }
  })
  return reportNow()
}
