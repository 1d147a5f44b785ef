import { describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../support/temporary-folder.ts"

const support = join(import.meta.dir, "support")

const scenarios = `
import { expect, test } from "bun:test"
import { reported } from ${JSON.stringify(join(support, "evidence.ts"))}

test("a", reported("passes", async (evidence) => {
  evidence.latency("answer", 5)
  evidence.count("things", 2)
  evidence.count("things", 3)
  evidence.note("seed 7")
}))
test("b", reported("fails", async (evidence) => {
  evidence.orphans(1)
  evidence.orphans(1)
  expect(1).toBe(2)
}))
test("c", reported("hangs", () => new Promise(() => undefined)), 50)
`

describe("scenarios that pass, fail and hang, in one run of `bun test`", () => {
  test("are all in the report, without those of an earlier run", async () => {
    using folder = temporaryFolder()
    const reports = join(folder.path, "reports")
    const earlier = "run-999999999-1"
    mkdirSync(join(reports, earlier), { recursive: true })

    const { exitCode, said } = await runScenarios(folder.path, reports)

    expect(exitCode).toBe(1)
    const text = readFileSync(join(reports, "report.txt"), "utf8")
    expect(text).toContain("1 of 3 scenarios passed (33.3 %), 2 orphans")
    expect(text).toMatch(/^passes +passed /m)
    expect(text).toMatch(/^passes: answer +1 +5 +5 +5$/m)
    expect(text).toMatch(/^passes: things +5$/m)
    expect(text).toContain("passes: seed 7")
    expect(text).toMatch(/^fails +failed /m)
    expect(text).toMatch(/^hangs +unfinished /m)
    expect(said).toContain(text)
    expect(readdirSync(reports)).toContain("index.html")
    expect(readdirSync(reports)).toContain("junit.xml")
    expect(readdirSync(reports)).not.toContain(earlier)
  })
})

async function runScenarios(
  folder: string,
  reports: string,
): Promise<{ exitCode: number; said: string }> {
  writeFileSync(join(folder, "sample.test.ts"), scenarios)
  const printing = ["--preload", join(support, "print-report.ts")]
  const run = Bun.spawn([process.execPath, "test", ...printing, "./sample.test.ts"], {
    cwd: folder,
    env: { ...process.env, STRESS_REPORTS: reports },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  })
  const [said, exitCode] = await Promise.all([run.stdout.text(), run.exited])
  return { exitCode, said }
}
