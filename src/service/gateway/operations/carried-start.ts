import type { ExecutionRecord } from "../../../execution/record.ts"
import { AgentOptions, type AgentStartParams } from "../../../protocol/agent.ts"
import type { UnfinishedWork } from "../../../protocol/agent-restart.ts"
import { ExecuteParams } from "../../../protocol/execute.ts"
import { restartRequest } from "../../../protocol/restart-request.ts"

type SessionRequest = { request: ExecuteParams; agent: AgentOptions }

/** What is asked for, as the keeper takes it. */
export function sessionRequest(params: AgentStartParams): SessionRequest {
  const agent = AgentOptions.parse(params)
  const { cwd, env, timeout, idle_timeout, budget, limits, idempotency_key, labels } = params
  const { notify, trial, step, role } = params
  const request = ExecuteParams.parse({
    argv: [agent.agent, ...agent.args],
    cwd,
    env,
    timeout,
    idle_timeout,
    budget,
    limits,
    idempotency_key,
    labels,
    notify,
    trial,
    step,
    role,
    stdin: "pipe",
  })
  return { request, agent }
}

/**
 * The same for a session that somebody goes on with after the service had died: what is not asked
 * for is as it was.
 */
export function carriedRequest(
  params: AgentStartParams,
  { old, work }: { old: ExecutionRecord; work: UnfinishedWork },
): SessionRequest {
  const { request, agent } = sessionRequest(params)
  // What is redacted in its record is not how it was.
  if ((old.redacted?.spec ?? 0) > 0) return { request, agent }
  const before = restartRequest(old, work)
  const args = agent.args.length > 0 ? agent.args : before.options.args
  return {
    request: {
      ...before.request,
      ...withoutUndefined(request),
      argv: [agent.agent, ...args],
      labels: { ...before.request.labels, ...request.labels },
      budget: { ...before.request.budget, ...request.budget },
      limits: { ...before.request.limits, ...request.limits },
    },
    agent: {
      ...before.options,
      ...withoutUndefined(agent),
      args,
      on_limit: agent.on_limit === "stop" ? "stop" : before.options.on_limit,
      restart: agent.restart === "never" ? "never" : before.options.restart,
    },
  }
}

function withoutUndefined<Fields extends object>(fields: Fields): Fields {
  const given = { ...fields }
  for (const name in given) if (given[name] === undefined) delete given[name]
  return given
}
