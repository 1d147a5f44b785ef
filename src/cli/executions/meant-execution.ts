import { CallError } from "../../client/client-error.ts"
import type { Client } from "../../client/connect.ts"
import { ExecutionId, shortId } from "../../execution/id.ts"
import { onOneLine } from "../../lib/harmless-text.ts"

/** The execution that somebody means, and what messages to that person call it. */
export type MeantExecution = { id: string; called: string }

/**
 * Finds out the whole id before anything is done: should a request have to be repeated after a lost
 * connection, a name might be another execution's by then.
 */
export async function meantExecution(client: Client, typed: string): Promise<MeantExecution> {
  if (ExecutionId.safeParse(typed).success) return { id: typed, called: shortId(typed) }
  try {
    const { execution_id: id } = await client.call("status", { execution_id: typed })
    const called = id.startsWith(typed) ? shortId(id) : `${typed} (${shortId(id)})`
    return { id, called: onOneLine(called) }
  } catch (error) {
    // Who may steer, but not read, has to do with what was typed; the client repeats nothing then.
    const mayNotRead = error instanceof CallError && error.failure.reason === "FORBIDDEN"
    if (!mayNotRead) throw error
    return { id: typed, called: onOneLine(typed) }
  }
}
