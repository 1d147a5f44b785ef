import { fetchPromtool } from "./promtool.ts"
import { install, runSteps, staticSteps } from "./steps.ts"
import { systemPackages } from "./system-packages.ts"
import { testStep } from "./test-step.ts"
import { installTestTools } from "./test-tools.ts"

const steps = [
  install,
  systemPackages,
  installTestTools,
  fetchPromtool,
  ...staticSteps,
  testStep(process.argv.slice(2)),
]
process.exit(await runSteps(steps))
