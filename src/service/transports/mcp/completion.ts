import type { CompleteRequest, CompleteResult } from "@modelcontextprotocol/server"
import { permit } from "../../access/permission.ts"
import type { McpScope } from "./ports.ts"
import { refusedRead } from "./resources/resources.ts"

const mostSuggested = 100

/** Which arguments are the id of an execution, by prompt and by template alike. */
const ids: ReadonlySet<string> = new Set(["id", "execution_id"])

/** Suggests the newest executions whose id begins as given. */
export async function complete(
  { operations, caller }: McpScope,
  { argument }: CompleteRequest["params"],
): Promise<CompleteResult> {
  const permitted = permit(caller, "read")
  if (!permitted.ok) throw refusedRead(permitted.failure)
  if (!ids.has(argument.name)) return { completion: { values: [], total: 0, hasMore: false } }
  const page = await operations.list(caller, { limit: mostSuggested })
  if (!page.ok) throw refusedRead(page.failure)
  const values = page.value.executions
    .map(({ execution_id }) => execution_id)
    .filter((id) => id.startsWith(argument.value))
  const hasMore = page.value.cursor !== undefined
  return { completion: { values, hasMore } }
}
