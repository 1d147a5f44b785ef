import type { Environment } from "../context.ts"
import { serviceEnvironment } from "./service-environment.ts"

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
