import { isClientVariable } from "../../config/client-variables.ts"
import type { Environment } from "../context.ts"

/**
 * Settings in the environment are meant for it too; what belongs to the runtime, to the client or
 * to a service manager of the client's is not.
 */
export function serviceEnvironment(env: Environment): Record<string, string> {
  const ours = Object.entries(env).filter(
    ([name]) => !name.startsWith("BUN_") && name !== "NOTIFY_SOCKET" && !isClientVariable(name),
  )
  return Object.fromEntries(
    ours.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
