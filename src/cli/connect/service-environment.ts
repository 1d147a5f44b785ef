import { isClientVariable } from "../../config/client-variables.ts"
import type { Environment } from "../context.ts"

/**
 * Settings in the environment are meant for it too; what belongs to the runtime, to the client or
 * to a service manager of the client's is not.
 */
export function serviceEnvironment(env: Environment): Record<string, string> {
  return only(
    env,
    (name) => !name.startsWith("BUN_") && name !== "NOTIFY_SOCKET" && !isClientVariable(name),
  )
}

const ownVariables = /^(CC_EXECUTOR_|BUN_|NODE_CHANNEL_|_$|SHLVL$|OLDPWD$)/

/** What an execution gets of the environment it was asked for in: all but this program's own. */
export function callersEnvironment(env: Environment): Record<string, string> {
  return only(env, (name) => name !== "" && !ownVariables.test(name))
}

function only(env: Environment, isWanted: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && isWanted(name) ? [[name, value]] : [],
    ),
  )
}

const scope = ["systemd-run", "--user", "--scope", "--quiet", "--property=Delegate=yes"]
const probeMs = 2_000

/** In a scope of its own the service may make cgroups, which a login session does not allow. */
export async function ownScope(env: Environment): Promise<string[]> {
  const hasUserManager = (env["XDG_RUNTIME_DIR"] ?? "") !== ""
  if (!hasUserManager || Bun.which("systemd-run", { PATH: env["PATH"] ?? "" }) === null) return []
  const probe = Bun.spawn([...scope, "true"], {
    env: serviceEnvironment(env),
    stdio: ["ignore", "ignore", "ignore"],
    timeout: probeMs,
    killSignal: "SIGKILL",
  })
  return (await probe.exited) === 0 ? [...scope, "--"] : []
}
