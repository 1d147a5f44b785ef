import { fail, ok, type Result } from "../../../lib/result.ts"
import type { AgentOptions } from "../../../protocol/agent.ts"
import type { ExecuteParams } from "../../../protocol/execute.ts"
import type { Failure } from "../../../protocol/failure.ts"
import type { Starter } from "../admission/execution-slots.ts"
import {
  type AgentStart,
  agentStartOf,
  type HostPlan,
  hostPlan,
  type Predecessor,
} from "../agents/agent-start.ts"
import { sessionOpenOutside } from "../agents/session-in-use.ts"
import type { Workplace } from "../agents/workplace.ts"
import type { AgentStartPorts } from "../keeper-ports.ts"
import type { Programs } from "../ports.ts"
import { denied } from "./allowed-launch.ts"
import { type PlanSettings, planExecution } from "./plan.ts"

/** Decides what a request would start: a command, or the host of an agent's session. */
export class Planner {
  readonly #settings: () => PlanSettings
  readonly #ports: AgentStartPorts & { programs: Programs }

  constructor(settings: () => PlanSettings, ports: AgentStartPorts & { programs: Programs }) {
    this.#settings = settings
    this.#ports = ports
  }

  agentStart(
    options: AgentOptions,
    predecessor: Predecessor | null,
    workplace: Workplace | null = null,
  ): AgentStart {
    return agentStartOf(options, () => this.#ports.newUuid(), predecessor, workplace)
  }

  plan(
    asked: ExecuteParams,
    { exempt }: Starter,
    agent: AgentStart | null,
  ): Result<HostPlan, Failure> {
    const worktree = agent?.spec.worktree
    const settings = worktree === undefined ? this.#settings() : inWorktree(this.#settings())
    const plan = planExecution(asked, settings, this.#ports.programs, exempt)
    if (!plan.ok) return plan
    // What the file will say is not known, so no policy can judge it.
    if (settings.policy.kind === "allow-list" && (agent?.spec.envFile ?? null) !== null) {
      return denied("variable", "an env_file cannot be used where an allow-list is in force")
    }
    if (agent === null) return ok({ ...plan.value, host: null })
    const denies = settings.approval.some(({ decide }) => decide === "deny")
    if (denies && plan.value.launch.argv.includes("--bare")) {
      return denied("approval", "with --bare, the service's approval rules could not deny anything")
    }
    const { env } = plan.value.launch
    const isOpen = sessionOpenOutside(agent, (id) => this.#ports.processWithSession(env, id))
    if (isOpen !== null) return fail(isOpen)
    return ok(hostPlan(plan.value, agent, this.#ports.ownProgram(), settings.approval))
  }
}

/** Git would work elsewhere, if whoever has started the service was in the middle of using it. */
function inWorktree(settings: PlanSettings): PlanSettings {
  const own = Object.entries(settings.baseEnv).filter(([name]) => !aboutRepository.test(name))
  return { ...settings, baseEnv: Object.fromEntries(own) }
}

/** What `git rev-parse --local-env-vars` names. */
const ofRepository = [
  "(?:IMPLICIT_)?WORK_TREE|(?:COMMON_|OBJECT_|ALTERNATE_OBJECT_)?DIR(?:ECTORY|ECTORIES)?",
  "INDEX_FILE|PREFIX|NAMESPACE|CONFIG(?:_PARAMETERS|_COUNT)?|GRAFT_FILE|SHALLOW_FILE",
  "NO_REPLACE_OBJECTS|REPLACE_REF_BASE|INTERNAL_SUPER_PREFIX",
]
const aboutRepository = new RegExp(`^GIT_(?:${ofRepository.join("|")})$`)
