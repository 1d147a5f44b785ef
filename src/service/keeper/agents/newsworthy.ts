import type { AgentStatus } from "../../../execution/agent.ts"

/** Whether a status has something that must survive: questions, turns, a limit, the session. */
export function isNewsworthy(before: AgentStatus | null, status: AgentStatus): boolean {
  return before === null || essence(before) !== essence(status)
}

function essence({ session_id, agent_version, turns, questions, limit, end }: AgentStatus): string {
  const { accepted, ended, current } = turns
  const open = questions.map(({ question_id }) => question_id)
  const kept = { session_id, agent_version, accepted, ended, current, open, limit, end }
  return JSON.stringify(kept)
}
