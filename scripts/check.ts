import { installIfMissing, runSteps, staticSteps } from "./steps.ts"
import { suiteStep } from "./test-step.ts"

await installIfMissing()
process.exit(await runSteps([...staticSteps, suiteStep(["fast"], ["--dots"])]))
