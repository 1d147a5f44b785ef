import { ok, type Result } from "../../../lib/result.ts"
import type { AgentOptions } from "../../../protocol/agent.ts"
import type { ExecuteParams } from "../../../protocol/execute.ts"
import type { Failure } from "../../../protocol/failure.ts"
import type { Starter } from "../admission/execution-slots.ts"
import {
  type AgentStart,
  agentStartOf,
  type HostPlan,
  hostPlan,
  refuseIfBusy,
} from "../agents/agent-start.ts"
import type { AgentStartPorts } from "../keeper-ports.ts"
import type { LiveTable } from "../live-table.ts"
import type { Programs } from "../ports.ts"
import { denied } from "./allowed-launch.ts"
import { type Plan, type PlanSettings, planExecution } from "./plan.ts"

/** Decides what a request would start: a command, or the host of an agent's session. */
export class Planner {
  readonly #settings: () => PlanSettings
  readonly #ports: AgentStartPorts & { programs: Programs }

  constructor(settings: () => PlanSettings, ports: AgentStartPorts & { programs: Programs }) {
    this.#settings = settings
    this.#ports = ports
  }

  agentStart(options: AgentOptions): AgentStart {
    return agentStartOf(options, () => this.#ports.newUuid())
  }

  plan(
    request: ExecuteParams,
    { exempt }: Starter,
    agent: AgentStart | null,
  ): Result<HostPlan, Failure> {
    const settings = this.#settings()
    const plan = planExecution(request, settings, this.#ports.programs, exempt)
    if (!plan.ok) return plan
    // What the file will say is not known, so no policy can judge it.
    if (settings.policy.kind === "allow-list" && (agent?.spec.envFile ?? null) !== null) {
      return denied("variable", "an env_file cannot be used where an allow-list is in force")
    }
    if (agent === null) return ok({ ...plan.value, host: null })
    return ok(hostPlan(plan.value, agent, this.#ports.ownProgram()))
  }

  refuseIfBusy(agent: AgentStart, { launch }: Plan, live: LiveTable): Result<null, Failure> {
    const records = live.all().map(({ record }) => record)
    return refuseIfBusy(agent, records, (sessionId) =>
      this.#ports.processWithSession(launch.env, sessionId),
    )
  }
}
