import type { AgentSpec, AgentStatus } from "../../execution/agent.ts"
import type { StopCause } from "../../execution/state.ts"
import type { Program } from "./program.ts"
import type { SessionParts } from "./session-parts.ts"

/** Why a session ends; without an exit code, that of its last turn's outcome. */
export type Ending = { cause: StopCause | null; message: string; exitCode: number | null }

export const agentLeft: Ending = { cause: null, message: "The agent ended.", exitCode: 1 }

/** Whether an execution before this one was told to end, once its turns are done. */
export function endingBefore(status: AgentStatus | null): Ending | null {
  const message = status?.end?.message ?? null
  return message === null ? null : { cause: null, message, exitCode: null }
}

/** How a session stands. */
export function sessionStatus(
  spec: AgentSpec,
  parts: SessionParts,
  program: Program,
  ending: Ending | null,
): AgentStatus {
  const { meter, turns, holdUp, budgets } = parts
  return {
    v: 1,
    agent: spec.agent,
    ...parts.identity.known,
    resumed_from: spec.resumedFrom,
    activity: parts.liveliness.activity,
    turns: { ...turns.counts, responses: meter.responses },
    questions: parts.desk.open,
    usage: meter.usage(),
    limit: holdUp.limit,
    limited_until: holdUp.limitedUntil?.toISOString() ?? null,
    ...(budgets.warned.length > 0 && { budget_warnings: [...budgets.warned] }),
    last_turn: turns.last,
    crashes: program.crashes,
    end: ending && { cause: ending.cause ?? "end", message: ending.message },
  }
}
