import type { ExecutionSpec, LimitsHeldBy, ResourceLimits } from "../../../execution/spec.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { ExecuteParams } from "../../../protocol/execute.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"

export type LimitSettings = {
  limits: ResourceLimits
  /** What can hold an execution to each of them on this machine. */
  holders: LimitsHeldBy
  maxWallTimeoutMs: number // nobody runs for longer; infinite for no limit
  maxOutputBytes: number // nobody writes more; infinite for no limit
  retainBytesPerPrincipal: number // the largest budget of a principal that has a bound
}

type PlannedLimits = Pick<ExecutionSpec, "limits" | "limitsHeldBy" | "outputLimitBytes">

/** A limit that nobody would enforce is refused: a receipt must not claim it. */
export function plannedLimits(
  request: ExecuteParams,
  settings: LimitSettings,
): Result<PlannedLimits, Failure> {
  const limits: ResourceLimits = {
    memoryBytes: request.limits?.memory ?? settings.limits.memoryBytes,
    cpus: request.limits?.cpu ?? settings.limits.cpus,
    pids: request.limits?.pids ?? settings.limits.pids,
  }
  const refused = unenforceable(limits, settings.holders)
  if (refused !== null) {
    const message = `A limit of ${refused} cannot be enforced here: ${whatItNeeds[refused]}.`
    return fail(failure("INVALID_PARAMS", message, { limit: refused }))
  }
  const outputBytes = Math.min(request.limits?.output ?? Infinity, settings.maxOutputBytes)
  return ok({
    limits,
    limitsHeldBy: heldBy(limits, settings.holders),
    outputLimitBytes: outputBytes === Infinity ? null : outputBytes,
  })
}

const kinds = [
  { key: "memoryBytes", name: "memory" },
  { key: "cpus", name: "cpu" },
  { key: "pids", name: "pids" },
] as const

export const whatItNeeds = {
  memory: "it needs a cgroup controller, or the program prlimit (util-linux)",
  cpu: "it needs a cgroup controller",
  pids: "it needs a cgroup controller, or children that do not run as root",
}

/** The first limit asked for that this machine cannot hold anything to. */
export function unenforceable(
  limits: ResourceLimits,
  holders: LimitsHeldBy,
): keyof typeof whatItNeeds | null {
  const first = kinds.find(({ key }) => limits[key] !== null && holders[key] === null)
  return first?.name ?? null
}

function heldBy(limits: ResourceLimits, holders: LimitsHeldBy): LimitsHeldBy {
  return {
    memoryBytes: limits.memoryBytes === null ? null : holders.memoryBytes,
    cpus: limits.cpus === null ? null : holders.cpus,
    pids: limits.pids === null ? null : holders.pids,
  }
}

/**
 * Who asks for more than there is gets nothing rather than less: an execution that was promised an
 * hour must not be stopped after a minute. Some ceilings hold only for who is not exempt.
 */
export function tooMuchAsked(
  request: ExecuteParams,
  settings: LimitSettings,
  exempt: boolean,
): Failure | null {
  const { timeout, limits, budget } = request
  const forAll = [
    { name: "timeout", asked: timeout, most: settings.maxWallTimeoutMs / 1000 },
    { name: "limits.output", asked: limits?.output, most: settings.maxOutputBytes },
  ]
  const forBound = [
    { name: "limits.memory", asked: limits?.memory, most: settings.limits.memoryBytes },
    { name: "limits.cpu", asked: limits?.cpu, most: settings.limits.cpus },
    { name: "limits.pids", asked: limits?.pids, most: settings.limits.pids },
    { name: "budget.bytes", asked: budget?.bytes, most: settings.retainBytesPerPrincipal },
  ]
  for (const { name, asked, most } of exempt ? forAll : [...forAll, ...forBound]) {
    if (asked === undefined || most === null || asked <= most) continue
    const message = `${name} must not exceed ${most} here.`
    return failure("INVALID_PARAMS", message, { limit: name, most })
  }
  return null
}
