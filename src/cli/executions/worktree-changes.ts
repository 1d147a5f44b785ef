import { CallError } from "../../client/client-error.ts"
import type { Client } from "../../client/connect.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { changesSummary } from "../agents/changes-text.ts"

/** Git is run for each. */
const mostAtOnce = 4

/** By id, what has changed in the worktrees of sessions. */
export async function changesOf(
  client: Client,
  views: readonly ExecutionView[],
): Promise<ReadonlyMap<string, string>> {
  const changes = new Map<string, string>()
  const asked = views.filter(({ worktree }) => worktree !== undefined)[Symbol.iterator]()
  const work = async () => {
    for (const { execution_id } of asked) {
      changes.set(execution_id, await summaryOf(client, execution_id))
    }
  }
  await Promise.all(Array.from({ length: mostAtOnce }, work))
  return changes
}

async function summaryOf(client: Client, execution_id: string): Promise<string> {
  try {
    return changesSummary(await client.call("agent.changes", { execution_id }))
  } catch (error) {
    if (error instanceof CallError) return `not known: ${error.message}`
    throw error
  }
}
