import { UpgradeReport } from "../../src/protocol/upgrade.ts"
import { executable, type Service } from "./service.ts"

export type Upgraded = { exitCode: number; stdout: string; stderr: string }

/** `cc-executor upgrade` as a user types it, on a service's state directory. */
export async function runUpgrade(
  service: Pick<Service, "stateDir">,
  program = executable,
  ...args: string[]
): Promise<Upgraded> {
  const command = [executable, "upgrade", "--state-dir", service.stateDir, "--to", program]
  const child = Bun.spawn([...command, ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { exitCode: await child.exited, stdout, stderr }
}

/** The same, where it must go well: what the service reports of it. */
export async function upgraded(
  service: Pick<Service, "stateDir">,
  program = executable,
): Promise<Extract<UpgradeReport, { phase: "done" }>> {
  const { exitCode, stdout, stderr } = await runUpgrade(service, program, "--json")
  if (exitCode !== 0) throw new Error(`the upgrade failed: ${stderr}`)
  const report = UpgradeReport.parse(JSON.parse(stdout))
  if (report.phase !== "done") throw new Error(`the upgrade is not done: ${stdout}`)
  return report
}
