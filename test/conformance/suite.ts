import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { type TestTool, toolFolder } from "../../scripts/test-tools.ts"

/** What of an installed suite is to be run. */
export type Suite = { program: string; selection: string[]; scenarios: string[] }

/** How a scenario went. A warning is a failure here: the service follows recommendations too. */
export type Outcome =
  | { kind: "passed" }
  | { kind: "skipped" }
  | { kind: "failed"; checks: string[] }

export type SuiteRun = {
  exitCode: number
  summary: string
  outcomes: ReadonlyMap<string, Outcome>
}

/** The suite of the legacy revisions' time, whole; null where it is not installed. */
export function legacySuite(): Suite | null {
  const folder = packageFolder("conformance-legacy")
  if (folder === null) return null
  const program = programIn(folder)
  const list = Bun.spawnSync([process.execPath, program, "list", "--server"])
  const scenarios = [...list.stdout.toString().matchAll(/^ +- (\S+)/gm)].map(
    (line) => line[1] ?? "",
  )
  return { program, selection: ["--suite", "all"], scenarios }
}

/** What conforming to a revision requires, and what the suite tries beyond that. */
export function requirements(revision: string): Suite | null {
  const folder = packageFolder("conformance")
  if (folder === null) return null
  const file = readFileSync(join(folder, "requirements", `${revision}.yaml`), "utf8")
  const { server, not_scored } = Requirements.parse(Bun.YAML.parse(file))
  const unscored = not_scored.filter(({ leg }) => leg === "server").map(({ scenario }) => scenario)
  const selection = ["--requirements", revision]
  return { program: programIn(folder), selection, scenarios: [...server, ...unscored] }
}

const Requirements = z.object({
  server: z.array(z.string()),
  not_scored: z.array(z.object({ scenario: z.string(), leg: z.enum(["server", "client"]) })),
})

function packageFolder(tool: TestTool): string | null {
  const folder = toolFolder(tool)
  if (folder === null) return null
  return join(folder, "node_modules", "@modelcontextprotocol", "conformance")
}

function programIn(folder: string): string {
  return join(folder, "dist", "index.js")
}

/** Runs a suite against a server, with its results in an empty folder. */
export async function runSuite(
  { program, selection }: Suite,
  { url, expectedFailures, results }: { url: string; expectedFailures: string; results: string },
): Promise<SuiteRun> {
  const options = ["--url", url, "--expected-failures", expectedFailures, "--output-dir", results]
  const child = Bun.spawn([process.execPath, program, "server", ...selection, ...options], {
    cwd: results,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: longestRunMs,
    killSignal: "SIGKILL",
  })
  const said = (await Promise.all([child.stdout.text(), child.stderr.text()])).join("\n")
  const summary = said.slice(Math.max(0, said.indexOf("=== SUMMARY ===")))
  return { exitCode: await child.exited, summary, outcomes: readOutcomes(results) }
}

// All scenarios together take some ten seconds; one that hangs is given up after thirty.
const longestRunMs = 60_000

/** Each scenario has its folder, named for it and the time. */
function readOutcomes(results: string): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>()
  for (const folder of readdirSync(results)) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(folder)?.[1]
    if (scenario === undefined) throw new Error(`not a scenario's results: ${folder}`)
    const checks = readFileSync(join(results, folder, "checks.json"), "utf8")
    outcomes.set(scenario, outcomeOf(Checks.parse(JSON.parse(checks))))
  }
  return outcomes
}

const Checks = z.array(
  z.object({
    id: z.string(),
    status: z.enum(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
    errorMessage: z.string().optional(),
  }),
)

function outcomeOf(checks: z.infer<typeof Checks>): Outcome {
  const failed = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING")
  if (failed.length > 0)
    return {
      kind: "failed",
      checks: failed.map(({ id, status, errorMessage }) => `${id}: ${errorMessage ?? status}`),
    }
  return { kind: checks.some(({ status }) => status === "SUCCESS") ? "passed" : "skipped" }
}
