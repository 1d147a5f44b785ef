import { fetchNatsServer } from "./nats-server.ts"
import { fetchPromtool } from "./promtool.ts"
import { build, install, installIfMissing, runSteps, type Step, staticChecks } from "./steps.ts"
import { systemPackages } from "./system-packages.ts"
import { plainTestStep, suiteStep, type TestStep } from "./test-step.ts"
import { suiteNamed, suiteNames } from "./test-suites.ts"
import { installTestTools } from "./test-tools.ts"

// `npm test`: everything that fits into ten minutes.
// `npm run test:fast` (--fast): what needs no executable, no root and no network.
// `npm run test:all` (--all): everything, at full length.
// `--only=static`: what needs no test to run; `--only=SUITE`: one suite of test-suites.ts.
// Files or names instead of that: just those tests. Options are passed on to `bun test`.
// Settings of tests: TEST_JUNIT (where to keep the report), TEST_RELEASE=1, TEST_IMAGE=1,
// TEST_MACHINE=1, STRESS.
const argv = process.argv.slice(2)
const own = argv.filter((word) => /^--(?:fast|all|only=.*)$/.test(word))
const args = argv.filter((word) => !own.includes(word))
const [choice = ""] = own
if (choice === "--fast") await installIfMissing()
if (choice === "--all") {
  // Tests ask for their length by this variable, and a longer one may have been asked for already.
  process.env["STRESS"] ??= "full"
  process.env["TEST_RELEASE"] ??= "1"
  process.env["TEST_IMAGE"] ??= "1"
  process.env["TEST_MACHINE"] ??= "1"
}
const tests = testsFor(choice)
const exitCode = await runSteps(stepsFor(choice, tests))
if (tests?.counts) {
  const { passed, failed, skipped } = tests.counts
  console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`)
}
process.exit(exitCode)

function testsFor(what: string): TestStep | null {
  const only = /^--only=(.*)$/.exec(what)?.[1]
  if (only === "static") return null
  if (only !== undefined) return suiteStep([suiteNamed(only)], args)
  if (what === "--fast") return suiteStep(["fast"], ["--dots", ...args])
  return areSomeChosen() ? plainTestStep(args) : suiteStep(suiteNames, args)
}

function stepsFor(what: string, test: TestStep | null): Step[] {
  if (test === null) return [install, staticChecks]
  if (what === "--fast") return [test]
  const isWhole = !what.startsWith("--only=") && !areSomeChosen()
  const prepared = [install, systemPackages, installTestTools, fetchPromtool, fetchNatsServer]
  return [...prepared, ...(isWhole ? [staticChecks] : []), build, test]
}

/** Files, folders or names rather than options. */
function areSomeChosen(): boolean {
  return args.some((word) => !word.startsWith("-"))
}
