import { readWorkFile } from "../files/read-work.ts"
import { findRepository } from "../places/git.ts"
import type { World } from "../world.ts"
import { requestOf } from "./request-of.ts"
import { reviewHome } from "./round-files.ts"

export type UsageRun = {
  check: string
  execution_id: string
  exit_code: number | null
  outcome: string
  /** The last that it has printed. */
  tail: string
}

/** Runs the usage checks of a request where the request is, each as an execution of its own. */
export async function runUsage({ client }: World, given: string): Promise<UsageRun[]> {
  const read = readWorkFile(given)
  const { settings } = requestOf(read)
  const home = reviewHome(read.path)
  const cwd = findRepository(home) ?? home
  const runs: UsageRun[] = []
  for (const { run: check } of settings.checks) {
    const argv = ["bash", "-e", "-c", check]
    await using execution = await client.execute({ argv, cwd }, { output: "ignore" })
    const { id: execution_id } = execution
    const { exit_code, outcome } = await execution.ended
    const asked = { execution_id, from: "tail:40", limit_bytes: 16 * 1024 }
    const { chunks } = await client.call("transcript.read", asked)
    const tail = chunks.map(({ data }) => data).join("")
    runs.push({ check, execution_id, exit_code, outcome, tail })
  }
  return runs
}
