import type { ExecutionRecord } from "../execution/record.ts"
import { AgentOptions, PermissionMode } from "./agent.ts"
import type { UnfinishedWork } from "./agent-restart.ts"
import { ExecuteParams } from "./execute.ts"

/** What would have to be asked for, to start a session again as it was. */
export function restartRequest(
  { spec, agent }: ExecutionRecord,
  { status }: Pick<UnfinishedWork, "status">,
): { request: ExecuteParams; options: AgentOptions } {
  const { argv, limits, budget, labels, cwd, notify } = spec
  const [, ...args] = argv
  const session = spec.agent
  // As it was configured last, which need not be as it was started.
  const latest = status ?? agent
  const mode = PermissionMode.safeParse(latest?.permission_mode ?? session?.permissionMode)
  // The agent tells it, and may tell anything.
  const model = AgentOptions.shape.model.safeParse(latest?.model ?? undefined)
  return {
    request: ExecuteParams.parse({
      argv,
      cwd,
      labels,
      notify,
      stdin: "pipe",
      timeout: inSeconds(spec.wallTimeoutMs),
      idle_timeout: inSeconds(spec.idleTimeoutMs),
      budget: { ...budget, lines: budget.lines ?? undefined },
      limits: {
        memory: limits.memoryBytes ?? undefined,
        cpu: limits.cpus ?? undefined,
        pids: limits.pids ?? undefined,
        output: spec.outputLimitBytes ?? undefined,
      },
    }),
    options: AgentOptions.parse({
      agent: session?.agent,
      model: model.data ?? session?.model ?? undefined,
      permission_mode: mode.data,
      max_turns: session?.maxTurns ?? undefined,
      max_cost_usd: session?.maxCostUsd ?? undefined,
      max_tokens: session?.maxTokens ?? undefined,
      on_limit: session?.onLimit,
      restart: session?.restart,
      env_file: session?.envFile ?? undefined,
      approval: session?.approval,
      args,
    }),
  }
}

function inSeconds(ms: number | null): number | undefined {
  return ms === null ? undefined : ms / 1000
}
