import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { type TestTool, testTools } from "../../scripts/test-tools.ts"
import { scale } from "../support/scale.ts"
import { executable, Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"
import { type Exception, type Exceptions, readExceptions } from "./exceptions.ts"
import {
  legacySuite,
  type Outcome,
  requirements,
  runSuite,
  type Suite,
  type SuiteRun,
} from "./suite.ts"

const resources = new AsyncDisposableStack()
const folder = resources.use(temporaryFolder())
const testBuild = join(folder.path, "cc-executor")
let url = ""

beforeAll(async () => {
  await buildWithFixtures()
  const service = resources.use(await Service.start({ executable: testBuild }))
  url = await service.url("/mcp")
}, 60_000)

afterAll(() => resources.disposeAsync())

const legacy = readExceptions("legacy")
const modern = readExceptions("modern")

const of2025 = requirements("2025-11-25")
const of2026 = requirements("2026-07-28")

// Today's suite tries the same revision in a short run.
describe("the suite of the legacy revisions' time", () => {
  if (scale === "short") test.skip("passes (skipped: part of npm run test:all)", () => undefined)
  else passes("conformance-legacy", legacySuite(), legacy)
})

describe("the requirements of 2025-11-25", () => passes("conformance", of2025, legacy))

describe("the requirements of 2026-07-28, and the tasks extension", () =>
  passes("conformance", of2026, modern))

describe("the lists of what does not apply", () => {
  const obstacle = of2025 === null ? `${testTools.conformance} is not installed` : null
  testUnless(obstacle, "name only scenarios that there are", async () => {
    const scenarios = [of2025, of2026].flatMap((suite) => suite?.scenarios ?? [])
    const listed = [...legacy.byScenario.keys(), ...modern.byScenario.keys()]
    expect(listed.filter((scenario) => !scenarios.includes(scenario))).toEqual([])
  })
})

describe("the fixtures that the suites call", () => {
  test("are in the executable under test, and not in the shipped one", async () => {
    const fixture = "test_input_required_result_elicitation"
    const holdsFixture = async (path: string) =>
      Buffer.from(await Bun.file(path).arrayBuffer()).includes(fixture)

    expect(await holdsFixture(testBuild)).toBe(true)
    expect(await holdsFixture(executable)).toBe(false)
  })
})

/** One test for each scenario, so that what fails has its name. */
function passes(tool: TestTool, suite: Suite | null, { path, byScenario }: Exceptions): void {
  if (suite === null) {
    test.skip(`passes (skipped: ${testTools[tool]} is not installed)`, () => undefined)
    return
  }
  let run: SuiteRun
  beforeAll(async () => {
    const results = join(folder.path, Bun.randomUUIDv7())
    mkdirSync(results)
    run = await runSuite(suite, { url, expectedFailures: path, results })
  }, 90_000)

  for (const scenario of suite.scenarios) {
    const { behaviour, kind } = expectation(scenario, byScenario.get(scenario))
    test(behaviour, () => {
      const outcome = run.outcomes.get(scenario)
      expect(outcome?.kind, JSON.stringify(outcome, null, 2)).toBe(kind)
    })
  }

  test("finds nothing else, by its own judgement", () => {
    expect([...run.outcomes.keys()].toSorted()).toEqual(suite.scenarios.toSorted())
    expect(run.exitCode, run.summary).toBe(0)
  })
}

function expectation(
  scenario: string,
  exception: Exception | undefined,
): { behaviour: string; kind: Outcome["kind"] } {
  if (exception === undefined) return { behaviour: scenario, kind: "passed" }
  const { kind, why } = exception
  return kind === "fails"
    ? { behaviour: `${scenario} fails: ${why}`, kind: "failed" }
    : { behaviour: `${scenario} is left out: ${why}`, kind: "skipped" }
}

/** The service as it is built for users, but for what its MCP servers offer. */
async function buildWithFixtures(): Promise<void> {
  const entry = join(import.meta.dir, "main.ts")
  const script = join(import.meta.dir, "../../scripts/build.ts")
  const build = Bun.spawn([process.execPath, script, entry, testBuild], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const said = await Promise.all([build.stdout.text(), build.stderr.text()])
  if ((await build.exited) !== 0) throw new Error(said.join("\n"))
}
