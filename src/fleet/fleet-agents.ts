import { ok } from "../lib/result.ts"
import type { Caller } from "../service/access/caller.ts"
import type { AgentOperations } from "../service/gateway/agent-operations.ts"
import type { Answer, Operations } from "../service/gateway/ports.ts"

export type FleetAgentPorts = {
  local: AgentOperations
  onNodeOf: <Value>(
    caller: Caller,
    given: string,
    run: (place: { at: Operations; id: string }) => Answer<Value>,
  ) => Answer<Value>
  /** All other nodes that can be reached. */
  others: () => Operations[]
}

/** Sessions of agents, on whichever node: they start on the one that was asked. */
export function fleetAgents({ local, onNodeOf, others }: FleetAgentPorts): AgentOperations {
  return {
    start: (caller, params) => local.start(caller, params),
    send: (caller, params) => onSession(caller, params, (at, own) => at.send(caller, own)),
    answer: (caller, params) => onSession(caller, params, (at, own) => at.answer(caller, own)),
    interrupt: (caller, params) =>
      onSession(caller, params, (at, own) => at.interrupt(caller, own)),
    end: (caller, params) => onSession(caller, params, (at, own) => at.end(caller, own)),
    configure: (caller, params) =>
      onSession(caller, params, (at, own) => at.configure(caller, own)),
    status: (caller, params) => onSession(caller, params, (at, own) => at.status(caller, own)),
    changes: (caller, params) => onSession(caller, params, (at, own) => at.changes(caller, own)),
    take: (caller, params) => onSession(caller, params, (at, own) => at.take(caller, own)),
    drop: (caller, params) => onSession(caller, params, (at, own) => at.drop(caller, own)),
    async inbox(caller, params) {
      const own = await local.inbox(caller, params)
      if (!own.ok) return own
      const asked = others().map((at) => at.agents.inbox(caller, params))
      const theirs = (await Promise.all(asked)).flatMap((one) => (one.ok ? [one.value] : []))
      const questions = [own.value, ...theirs].flatMap((inbox) => inbox.questions)
      const interrupted = [own.value, ...theirs].flatMap((inbox) => inbox.interrupted)
      return ok({ questions, interrupted })
    },
  }

  function onSession<Params extends { execution_id: string }, Value>(
    caller: Caller,
    params: Params,
    run: (at: AgentOperations, params: Params) => Answer<Value>,
  ): Answer<Value> {
    return onNodeOf(caller, params.execution_id, ({ at, id }) =>
      run(at.agents, { ...params, execution_id: id }),
    )
  }
}
