import { executable, type Service } from "./service.ts"

/** Runs the command line against a service on this machine. */
export async function cliOf(service: Pick<Service, "stateDir">, ...args: string[]) {
  const child = Bun.spawn([executable, ...args], {
    env: { ...process.env, CC_EXECUTOR_STATE_DIR: service.stateDir },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { out, error, exitCode: await child.exited }
}
