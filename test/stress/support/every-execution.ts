import type { ExecutionView } from "../../../src/protocol/execution-view.ts"
import type { StreamClient } from "../../support/stream-client.ts"

/** Every execution there is, page by page. */
export async function everyExecution(client: Pick<StreamClient, "call">): Promise<ExecutionView[]> {
  const all: ExecutionView[] = []
  let cursor: string | undefined
  do {
    const page = await client.call("list", {
      limit: 200,
      ...(cursor === undefined ? {} : { cursor }),
    })
    all.push(...page.executions)
    cursor = page.cursor
  } while (cursor !== undefined)
  return all
}
