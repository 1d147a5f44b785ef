import type { CompleteRequest, CompleteResult } from "@modelcontextprotocol/server"
import type { McpScope } from "./ports.ts"

const mostSuggested = 100

/** Which arguments are the id of an execution, by prompt and by template alike. */
const ids: ReadonlySet<string> = new Set(["id", "execution_id"])

/** Suggests the newest executions whose id begins as given. */
export async function complete(
  { operations, caller }: McpScope,
  { argument }: CompleteRequest["params"],
): Promise<CompleteResult> {
  if (!ids.has(argument.name)) return { completion: { values: [], total: 0, hasMore: false } }
  const page = await operations.list(caller, { limit: mostSuggested })
  const executions = page.ok ? page.value.executions : []
  const values = executions
    .map(({ execution_id }) => execution_id)
    .filter((id) => id.startsWith(argument.value))
  const hasMore = page.ok && page.value.cursor !== undefined
  return { completion: { values, hasMore } }
}
