import { runSteps, staticSteps } from "./steps.ts"
import { suiteStep } from "./test-step.ts"

process.exit(await runSteps([...staticSteps, suiteStep(["fast"], ["--dots"])]))
