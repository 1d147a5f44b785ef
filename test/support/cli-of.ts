import { executable, type Service } from "./service.ts"

/** Runs the command line against a service on this machine. */
export function cliOf(service: Pick<Service, "stateDir">, ...args: string[]) {
  return cliWith({ CC_EXECUTOR_STATE_DIR: service.stateDir }, ...args)
}

/** The same for one that is named, with what else is needed, by variables. */
export async function cliWith(variables: Record<string, string>, ...args: string[]) {
  const child = Bun.spawn([executable, ...args], {
    env: { ...process.env, ...variables },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { out, error, exitCode: await child.exited }
}
