import { executable } from "./service.ts"

export type TokenWanted = { name: string; scope?: string; ttl?: string }

/** Makes a token as a user does: with the command, beside a running service or before it. */
export async function makeToken(stateDir: string, wanted: TokenWanted): Promise<string> {
  const { name, scope, ttl } = wanted
  const args = ["--state-dir", stateDir, "--name", name]
  if (scope !== undefined) args.push("--scope", scope)
  if (ttl !== undefined) args.push("--ttl", ttl)
  return (await runToken(["create", ...args])).trim()
}

export async function revokeToken(stateDir: string, name: string): Promise<void> {
  await runToken(["revoke", "--state-dir", stateDir, name])
}

/** The headers that show a token. */
export function bearing(token: string): { headers: { Authorization: string } } {
  return { headers: { Authorization: `Bearer ${token}` } }
}

async function runToken(args: string[]): Promise<string> {
  const run = Bun.spawn([executable, "token", ...args], { stdout: "pipe", stderr: "pipe" })
  const [said, complained, exitCode] = await Promise.all([
    run.stdout.text(),
    run.stderr.text(),
    run.exited,
  ])
  if (exitCode !== 0) throw new Error(`token ${args[0]} failed: ${complained}`)
  return said
}
