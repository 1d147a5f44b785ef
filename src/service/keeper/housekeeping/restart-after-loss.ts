import type { ExecutionRecord } from "../../../execution/record.ts"
import { mostRestarts, type Restart, waitBefore } from "../../../execution/restart.ts"

/**
 * What is to become of an execution that a dead keeper left: null for a command, and for a session
 * that was not to go on.
 */
export function restartAfterLoss(found: ExecutionRecord, now: Date): Restart | null {
  const { spec, agent, redacted } = found
  // The trial is lost with it: what went on would be part of nothing.
  if (found.trial !== undefined || found.withinTrial !== undefined) return null
  if (spec.agent === undefined || spec.agent.restart === "never" || isOver(found)) return null
  if (spec.envNames.length > 0) {
    return interrupted("It was given variables, whose values are not stored.", spec.envNames)
  }
  if ((redacted?.spec ?? 0) > 0) {
    return interrupted("Parts of how it was started are redacted in its record.")
  }
  if (found.state.kind === "paused") return interrupted("It was paused.")
  const hasEndedTurns = (agent?.turns.ended ?? 0) > 0
  const attempt = hasEndedTurns ? 1 : (spec.agent.restarts ?? 0) + 1
  if (attempt > mostRestarts) {
    return interrupted(`It was restarted ${mostRestarts} times, and no turn ended in between.`)
  }
  const notBefore = new Date(now.getTime() + waitBefore(attempt)).toISOString()
  return { kind: "pending", attempt, notBefore }
}

/** Whether it was going to end anyway, or had not begun. */
function isOver({ state, spec, agent }: ExecutionRecord): boolean {
  switch (state.kind) {
    case "queued":
      // As every queued execution, unless it is the rest of a session that had begun.
      return spec.agent?.restartOf === undefined
    case "stopping":
    case "draining":
    case "ended":
      return true
    case "starting":
    case "running":
    case "paused":
      break
  }
  const end = agent?.end ?? null
  if (agent === undefined || agent === null || end === null) return false
  const hasMoreToDo = agent.turns.accepted > agent.turns.ended
  return end.cause !== "end" || !hasMoreToDo
}

function interrupted(why: string, missing: readonly string[] = []): Restart {
  return { kind: "interrupted", why, missing: [...missing] }
}
