import { runSteps, staticSteps } from "./steps.ts"
import { testStep } from "./test-step.ts"

process.exit(await runSteps([...staticSteps, testStep(process.argv.slice(2))]))
