import { hasEnded } from "../../../execution/record.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { LiveTable } from "../live-table.ts"
import type { Journal } from "../ports.ts"
import type { AgentStart } from "./agent-start.ts"

/** Two that write one session destroy it: whoever has it keeps it. Null where nobody does. */
export function sessionInUse(
  agent: AgentStart,
  live: LiveTable,
  store: Pick<Journal, "find">,
): Failure | null {
  const sessionId = sessionTaken(agent)
  if (sessionId === null) return null
  const holder = live.all().find(({ record: { spec, agent: status } }) => {
    return spec.agent?.sessionId === sessionId || status?.session_id === sessionId
  })
  if (holder === undefined) return null
  // Its end is on record, and told, a moment before it is let go of.
  const recorded = store.find(holder.record.id)
  if (recorded !== null && hasEnded(recorded)) return null
  const { id: execution_id } = holder.record
  const message =
    `Session ${sessionId} is in use by execution ${execution_id}: attach to that one, take the ` +
    "session over (take_over), or go on with a copy of it (fork)."
  return failure("SESSION_BUSY", message, { execution_id })
}

/** The same for a program that is none of ours; who waits in the queue is asked again. */
export function sessionOpenOutside(
  agent: AgentStart,
  processWithSession: (sessionId: string) => number | null,
): Failure | null {
  const sessionId = sessionTaken(agent)
  const pid = sessionId === null ? null : processWithSession(sessionId)
  if (pid === null) return null
  const message =
    `Session ${sessionId} is open in another program, process ${pid}: end that one, or go on ` +
    "with a copy of the session (fork)."
  return failure("SESSION_BUSY", message, { pid })
}

/** The session that is to be written by this one alone; null for a new one. */
function sessionTaken({ spec }: AgentStart): string | null {
  const { sessionId, resumedFrom, fork, restartOf } = spec
  if (restartOf !== undefined) return sessionId
  return resumedFrom === null || fork ? null : sessionId
}
