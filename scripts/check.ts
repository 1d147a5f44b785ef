import { installIfMissing, runSteps, staticChecks } from "./steps.ts"
import { suiteStep } from "./test-step.ts"

await installIfMissing()
process.exit(await runSteps([staticChecks, suiteStep(["fast"], ["--dots"])]))
