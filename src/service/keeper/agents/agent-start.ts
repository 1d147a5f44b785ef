import type { AgentSpec } from "../../../execution/agent.ts"
import type { ApprovalRule } from "../../../execution/approval-rule.ts"
import { ownedRules } from "../../../execution/judge-question.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import { isSessionId } from "../../../execution/session-id.ts"
import type { AgentOptions } from "../../../protocol/agent.ts"
import type { HostStart } from "../../../protocol/agent-orders.ts"
import type { HostRestart, UnfinishedWork } from "../../../protocol/agent-restart.ts"
import type { Plan } from "../starting/plan.ts"
import type { Workplace } from "./workplace.ts"

/** A session that was asked for: how it is to be run, and what it begins with. */
export type AgentStart = {
  spec: AgentSpec
  first: FirstTurn | null
  restart: HostRestart | null
}

/** The execution that a session ran in when the service died, and what it had not finished. */
export type Predecessor = { record: ExecutionRecord; work: UnfinishedWork; attempt: number }

/** Without a name of its own it gets the execution's, so that whoever has started it knows it. */
type FirstTurn = { turnId: string | null; content: string }

/** `newId` makes names of sessions and turns. */
export function agentStartOf(
  options: AgentOptions,
  newId: () => string,
  predecessor: Predecessor | null,
  workplace: Workplace | null = null,
): AgentStart {
  const { prompt, resume = null, fork } = options
  const isOwnSession = resume === null || fork
  return {
    spec: {
      agent: options.agent,
      sessionId: isOwnSession ? newId() : resume,
      resumedFrom: resume,
      fork,
      model: options.model ?? null,
      permissionMode: options.permission_mode ?? null,
      maxTurns: options.max_turns ?? null,
      maxCostUsd: options.max_cost_usd ?? null,
      maxTokens: options.max_tokens ?? null,
      onLimit: options.on_limit,
      restart: options.restart,
      envFile: options.env_file ?? null,
      ...(options.approval === undefined ? {} : { approval: options.approval }),
      ...(workplace && { worktree: workplace.worktree }),
      ...(predecessor && sameSession(predecessor)),
    },
    first: prompt === undefined ? null : { turnId: options.turn_id ?? null, content: prompt },
    restart: predecessor && restartOf(predecessor),
  }
}

function sameSession({ record, work, attempt }: Predecessor): Partial<AgentSpec> {
  const { agent } = record.spec
  const told = (work.status ?? record.agent)?.session_id ?? ""
  const sessionId = isSessionId(told) ? told : agent?.sessionId
  return {
    ...(sessionId === undefined ? {} : { sessionId }),
    resumedFrom: agent?.resumedFrom ?? null,
    fork: agent?.fork ?? false,
    ...(agent?.worktree === undefined ? {} : { worktree: agent.worktree }),
    restartOf: record.id,
    restarts: attempt,
  }
}

function restartOf({ record, work, attempt }: Predecessor): HostRestart {
  return { of: record.id, attempt, ...work, status: work.status ?? record.agent ?? null }
}

/** A plan, with what the host of an agent is to be told; null for a command. */
export type HostPlan = Plan & { host: PlannedHost | null }

type PlannedHost = Omit<HostStart, "executionId" | "first"> & Pick<AgentStart, "first">

export function hostStartOf({ first, ...host }: PlannedHost, executionId: string): HostStart {
  const turn = first && { ...first, turnId: first.turnId ?? executionId }
  return { ...host, executionId, first: turn }
}

/**
 * The host is started in place of the agent's program, which was judged and is what the record
 * names; the host is told which it is.
 */
export function hostPlan(
  plan: Plan,
  { spec, first, restart }: AgentStart,
  ownProgram: readonly string[],
  approval: readonly ApprovalRule[],
): HostPlan {
  const { argv, argv0 } = plan.launch
  const { cwd } = plan.spec
  return {
    spec: { ...plan.spec, agent: spec },
    launch: {
      ...plan.launch,
      argv: [...ownProgram, "__agent-host"],
      argv0: null,
      isAgentHost: true,
    },
    host: { argv, argv0, cwd, spec, first, restart, approval: ownedRules(approval, spec.approval) },
  }
}
