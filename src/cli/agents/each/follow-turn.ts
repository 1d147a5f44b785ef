import { CallError } from "../../../client/client-error.ts"
import type { Client } from "../../../client/connect.ts"
import type { TurnOutcome } from "../../../execution/agent.ts"
import { successorOf } from "../successor.ts"

export type TurnEnd = { id: string; outcome: TurnOutcome | "ended" }

/**
 * Waits until a turn of a session has ended, and ends the session; null where nobody waits any
 * more. A session that goes on in another execution is followed there.
 */
export async function followTurn(
  client: Client,
  id: string,
  turnId: string,
  signal: AbortSignal,
): Promise<TurnEnd | null> {
  await using session = await client.attachAgent(id)
  const leave = () => void session.detach()
  signal.addEventListener("abort", leave)
  if (signal.aborted) leave() // while it was being attached
  let outcome: TurnOutcome | null = null
  try {
    // To its end: only then is its worktree to be had, and its place free.
    for await (const notice of session.events()) {
      if (notice.kind !== "event" || notice.event.event !== "turn-ended") continue
      if (notice.event.turn_id !== turnId) continue
      outcome = notice.event.outcome
      await endSession(client, id)
    }
  } finally {
    signal.removeEventListener("abort", leave)
  }
  if (signal.aborted) return null
  if (outcome !== null) return { id, outcome }
  const ended = await session.execution.ended
  const next = ended.outcome === "lost" ? await successorOf(client, id, signal) : null
  if (next !== null) return await followTurn(client, next, turnId, signal)
  return signal.aborted ? null : { id, outcome: "ended" }
}

/** It may have ended long ago, where the line was started by an earlier command. */
async function endSession(client: Client, execution_id: string): Promise<void> {
  const { state } = await client.call("status", { execution_id })
  if (state === "ended") return
  await client.call("agent.end", { execution_id }).catch(refusedAsEnded)
}

function refusedAsEnded(error: unknown): void {
  if (error instanceof CallError && error.failure.reason === "WRONG_STATE") return
  throw error
}
