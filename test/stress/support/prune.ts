import { executable, type Service } from "../../support/service.ts"

/** Removes every ended execution, as a user would; fails when the command does. */
export async function prune(service: Service): Promise<void> {
  const argv = [executable, "prune", "--all", "--force", "--state-dir", service.stateDir]
  const command = Bun.spawn(argv, { stdin: "ignore", stdout: "ignore", stderr: "pipe" })
  const [said, exitCode] = await Promise.all([command.stderr.text(), command.exited])
  if (exitCode !== 0) throw new Error(`prune ended with ${exitCode}: ${said}`)
}
