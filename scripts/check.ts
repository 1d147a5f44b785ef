import { build, runSteps, staticSteps } from "./steps.ts"
import { testStep } from "./test-step.ts"

process.exit(await runSteps([...staticSteps, build, testStep(process.argv.slice(2))]))
