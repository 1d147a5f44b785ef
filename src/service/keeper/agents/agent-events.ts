import type { AgentStatus } from "../../../execution/agent.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import type { Result } from "../../../lib/result.ts"
import type { AgentOrder } from "../../../protocol/agent-orders.ts"
import type { Failure } from "../../../protocol/failure.ts"
import type { Steering } from "../supervision/steering.ts"
import type { SupervisionPorts } from "../supervision/supervision-ports.ts"
import { noAgent, wrongState } from "../supervision/wrong-state.ts"
import type { AgentChannel, AgentChannelEvents } from "./agent-channel.ts"
import { isNewsworthy } from "./newsworthy.ts"
import { redactStatus } from "./redact-status.ts"

/** What follows from what the host of an agent tells about its session. */
export function agentEvents(
  execution: { readonly record: ExecutionRecord; readonly steering: Steering },
  ports: Pick<SupervisionPorts, "journal" | "agentChanged" | "ruleDecided" | "odd" | "redaction">,
  keep: (status: AgentStatus) => void,
): AgentChannelEvents {
  return {
    status(told) {
      const status = redactStatus(told, ports.redaction)
      const before = execution.record.agent ?? null
      keep(status)
      // What a crash of this process must not lose; the rest can be read from the transcript.
      if (isNewsworthy(before, status)) ports.journal(null, execution.record)
      ports.agentChanged(execution.record)
    },
    decided: (decision) => ports.ruleDecided(execution.record, decision),
    ending(cause) {
      if (cause !== null) void execution.steering.stop(cause)
    },
    odd: (why) => ports.odd(execution.record, why),
  }
}

/** `channel` is null before its start and after its end. */
export async function orderAgent(
  { state, spec }: ExecutionRecord,
  channel: AgentChannel | null,
  by: string,
  order: AgentOrder,
): Promise<Result<Record<string, never>, Failure>> {
  if (spec.agent === undefined) return noAgent(state)
  if (channel === null || state.kind === "paused") return wrongState(state, "given orders")
  return channel.order(by, order)
}
