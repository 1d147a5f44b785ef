import type { Client } from "../../client/connect.ts"
import { liveStates, type StateKind } from "../../execution/state.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"

const pageSize = 1000

export type ListFilter = {
  /** Null is all of them. */
  states: readonly StateKind[] | null
  labels: Record<string, string>
  limit: number
}

/** Newest first. */
export async function listExecutions(
  client: Client,
  { states, labels, limit }: ListFilter,
): Promise<ExecutionView[]> {
  const found = new Map<string, ExecutionView>()
  for (const state of states ?? [null]) {
    for (const view of await listPages(client, state, labels, limit)) {
      found.set(view.execution_id, view)
    }
  }
  return newestFirst([...found.values()]).slice(0, limit)
}

/** Everything that has not ended, however much that is. */
export function liveExecutions(
  client: Client,
  labels: Record<string, string> = {},
): Promise<ExecutionView[]> {
  return listExecutions(client, { states: liveStates, labels, limit: Number.POSITIVE_INFINITY })
}

export function newestFirst(views: readonly ExecutionView[]): ExecutionView[] {
  return views.toSorted((one, other) => other.created_at.localeCompare(one.created_at))
}

async function listPages(
  client: Client,
  state: StateKind | null,
  labels: Record<string, string>,
  limit: number,
): Promise<ExecutionView[]> {
  const views: ExecutionView[] = []
  let cursor: string | undefined
  do {
    const page = await client.call("list", {
      labels,
      limit: Math.min(pageSize, Math.max(1, limit - views.length)),
      ...(state === null ? {} : { state }),
      ...(cursor === undefined ? {} : { cursor }),
    })
    views.push(...page.executions)
    cursor = page.cursor
  } while (cursor !== undefined && views.length < limit)
  return views
}
