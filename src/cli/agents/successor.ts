import type { Client } from "../../client/connect.ts"
import { delay } from "../../lib/delay.ts"

/** How often it is asked whether a session goes on again. */
const lookMs = 250

/** The execution that goes on with a session after a crash of the service; null for none. */
export async function successorOf(
  client: Client,
  execution_id: string,
  signal: AbortSignal,
): Promise<string | null> {
  while (!signal.aborted) {
    const { restarted_as, restarts_at } = await client.call("agent.status", { execution_id })
    if (restarted_as !== undefined) return restarted_as
    if (restarts_at === undefined) return null
    await delay(lookMs, signal)
  }
  return null
}
