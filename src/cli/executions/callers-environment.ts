import type { Environment } from "../context.ts"

const ownVariables = /^(CC_EXECUTOR_|BUN_|NODE_CHANNEL_|_$|SHLVL$|OLDPWD$)/

/** What an execution gets of the environment it was asked for in: all but this program's own. */
export function callersEnvironment(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || name === "" || ownVariables.test(name) ? [] : [[name, value]],
    ),
  )
}
