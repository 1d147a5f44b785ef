import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { cpus, release, totalmem } from "node:os"
import { join } from "node:path"
import { readStat } from "../../../src/service/os/proc.ts"
import { scale, seed } from "../../support/scale.ts"
import type { Report } from "./report.ts"
import { reportAsJunit } from "./report-junit.ts"
import { reportAsPage } from "./report-page.ts"
import { reportAsText } from "./report-text.ts"
import { Scenario } from "./scenario.ts"

const folder = process.env["STRESS_REPORTS"] ?? join(import.meta.dir, "../../../reports/stress")
// A process is known by its pid and when it started: a later run may have the same pid.
const runName = /^run-(\d+)-(\d+)$/
const runFolder = join(folder, `run-${process.pid}-${startTicksOf(process.pid)}`)

let scenarioCount = 0

/** Keeps the next scenario of this run, which replaces itself, and writes the report again. */
export function nextScenario(): (scenario: Scenario) => void {
  if (scenarioCount === 0) {
    forgetEndedRuns()
    mkdirSync(runFolder, { recursive: true })
  }
  scenarioCount += 1
  const path = join(runFolder, `${String(scenarioCount).padStart(4, "0")}.json`)
  return (scenario) => {
    writeFileSync(path, JSON.stringify(scenario))
    renderReport()
  }
}

/** The report as text and where its page is, when this run has any scenario. */
export function finishedReport(): { text: string; page: string } | null {
  if (scenarioCount === 0) return null
  return { text: reportAsText(readReport()), page: join(folder, "index.html") }
}

function renderReport(): void {
  const report = readReport()
  writeFileSync(join(folder, "report.txt"), reportAsText(report))
  writeFileSync(join(folder, "junit.xml"), reportAsJunit(report))
  writeFileSync(join(folder, "index.html"), reportAsPage(report))
}

function readReport(): Report {
  const scenarios = readdirSync(runFolder)
    .toSorted()
    .map((name) => Scenario.parse(JSON.parse(readFileSync(join(runFolder, name), "utf8"))))
  const processors = cpus()
  return {
    mode: scale,
    seed,
    machine:
      `${processors.length} × ${processors[0]?.model ?? "unknown"}, ` +
      `${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, Bun ${Bun.version}`,
    scenarios,
  }
}

/** Runs that still go on keep what they have: more than one may be under way. */
function forgetEndedRuns(): void {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) {
    const [, pid, startTicks] = runName.exec(name) ?? []
    if (pid === undefined || startTicksOf(Number(pid)) === Number(startTicks)) continue
    rmSync(join(folder, name), { recursive: true, force: true })
  }
}

function startTicksOf(pid: number): number {
  return readStat(pid)?.startTicks ?? 0
}
