import { resolve } from "node:path"
import { inDirectoryLock } from "../service/os/directory-lock.ts"
import { type Git, Refusal } from "./git.ts"

/** Git reads what it has half written of another worktree: so only one is changed at a time. */
export async function inTurn<Value>(
  git: Git,
  directory: string,
  change: () => Promise<Value>,
): Promise<Value> {
  const asked = await git.run(directory, ["rev-parse", "--git-common-dir"], { reads: true })
  if (asked.exitCode !== 0) return change() // there is no repository, which it will say
  const common = resolve(directory, asked.out.trim())
  const done = await inDirectoryLock(common, change)
  if (done !== null) return done.value
  throw new Refusal(`${common} has been locked by another process for a minute: try again.`)
}
