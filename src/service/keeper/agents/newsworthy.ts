import type { AgentStatus } from "../../../execution/agent.ts"

/** Whether a status has something that must survive: a restart needs it, or people are told. */
export function isNewsworthy(before: AgentStatus | null, status: AgentStatus): boolean {
  return before === null || essence(before) !== essence(status)
}

function essence({ turns, questions, ...status }: AgentStatus): string {
  const { session_id, agent_version, model, permission_mode, limit, end } = status
  const { limited_until = null, budget_warnings = [] } = status
  const warned = budget_warnings.map(({ budget }) => budget)
  const { accepted, ended, current } = turns
  const open = questions.map(({ question_id }) => question_id)
  const configured = { session_id, agent_version, model, permission_mode }
  const told = { limit, limited_until, warned, end }
  return JSON.stringify({ ...configured, accepted, ended, current, open, ...told })
}
