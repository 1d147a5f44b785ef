import { isClientVariable } from "../config/client-variables.ts"
import type { Environment } from "./context.ts"

/** Settings in the environment are meant for it too; the runtime's and the client's are not. */
export function serviceEnvironment(env: Environment): Record<string, string> {
  const ours = Object.entries(env).filter(
    ([name]) => !name.startsWith("BUN_") && !isClientVariable(name),
  )
  return Object.fromEntries(
    ours.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
