import type { Environment } from "./context.ts"

/** Settings in the environment are meant for it too; the runtime's own switches are not. */
export function serviceEnvironment(env: Environment): Record<string, string> {
  const ours = Object.entries(env).filter(
    ([name]) => !name.startsWith("BUN_") && name !== "CC_EXECUTOR_URL",
  )
  return Object.fromEntries(
    ours.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
