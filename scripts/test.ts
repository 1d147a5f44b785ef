import { fetchPromtool } from "./promtool.ts"
import { build, install, runSteps, type Step, staticSteps } from "./steps.ts"
import { systemPackages } from "./system-packages.ts"
import { testStep } from "./test-step.ts"
import { filesOf } from "./test-suites.ts"
import { installTestTools } from "./test-tools.ts"

/**
 * Everything, one after the other. `--only=static` is what needs no test to run; `--only=SUITE` is
 * one of the suites of test-suites.ts, without the static checks. All else is for `bun test`.
 */
const [args, only] = takeOnly(process.argv.slice(2))
process.exit(await runSteps(await stepsOf(only)))

async function stepsOf(part: string | null): Promise<Step[]> {
  if (part === "static") return [install, ...staticSteps]
  const prepared = [install, systemPackages, installTestTools, fetchPromtool]
  if (part === null) return [...prepared, ...staticSteps, build, testStep(args)]
  return [...prepared, build, testStep([...args, ...(await filesOf(part))])]
}

function takeOnly(argv: string[]): [args: string[], only: string | null] {
  const flag = argv.find((word) => word.startsWith("--only="))
  return [argv.filter((word) => word !== flag), flag?.slice("--only=".length) ?? null]
}
