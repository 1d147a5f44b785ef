import type { HealthReport } from "../../protocol/health-report.ts"
import { type Finding, ok, warn } from "./finding.ts"

type Told = Partial<
  Pick<HealthReport, "containment_reason" | "limits_held_by" | "open_files" | "processes">
>
/** What a service has to hold executions together and to their limits; older ones say less. */
export type Enforcement = Pick<HealthReport, "containment" | "version"> & Told

const fewProcesses = 1024

/** `whose` says of which service that is. */
export function examineEnforcement(whose: string, facts: Enforcement): Finding[] {
  const of = `(of ${whose})`
  const { limits_held_by: holders, open_files: files, processes } = facts
  return [
    examineContainment(of, facts),
    holders === undefined ? notTold("limits", whose, facts.version) : examineHolders(of, holders),
    ...(files === undefined ? [] : [examineLimit("open files", of, files, tooFewFiles(files))]),
    ...(processes === undefined
      ? []
      : [examineLimit("processes", of, { ...processes, needed: fewProcesses }, raiseProcesses)]),
  ]
}

/** Of a service that answers, but not to this caller. */
export function notForThisCaller(whose: string): Finding {
  return ok("containment", `not known: ${whose} tells it only to its own user and to admins`)
}

function examineContainment(of: string, { containment, containment_reason }: Enforcement): Finding {
  if (containment === "cgroup") return ok("containment", `cgroup ${of}`)
  const why = containment_reason ?? "it does not say why"
  return warn(
    "containment",
    `best-effort: ${why} ${of}`,
    "processes are tracked by group, session and environment; delegate a cgroup to be certain",
  )
}

function notTold(name: string, whose: string, version: string): Finding {
  const text = `not known: ${whose} is version ${version}, which does not say`
  return warn(name, text, "upgrade it with `cc-executor upgrade`; executions continue")
}

/** Which limits of one execution can be held, and by what. */
function examineHolders(of: string, holders: NonNullable<Told["limits_held_by"]>): Finding {
  const kinds = [
    { name: "memory", holder: holders.memory, rlimit: "per process" },
    { name: "cpu", holder: holders.cpu, rlimit: "" },
    { name: "pids", holder: holders.pids, rlimit: "per user" },
  ]
  const texts = kinds.map(({ name, holder, rlimit }) => {
    if (holder === null) return `${name}: cannot be enforced`
    return holder === "rlimit" ? `${name}: by rlimit, ${rlimit}` : `${name}: by cgroup`
  })
  const text = `${[...texts, "output: by the service"].join("; ")} ${of}`
  const isAllByCgroup = kinds.every(({ holder }) => holder === "cgroup")
  if (isAllByCgroup) return ok("limits", text)
  return warn("limits", text, "delegate the cgroup controllers memory, cpu and pids")
}

const raiseProcesses = "raise it: ulimit -u 65536, or LimitNPROC in its unit"

function tooFewFiles({ needed }: NonNullable<Told["open_files"]>): string {
  return (
    `as many executions at once as it allows may need ${needed}: ` +
    "raise it with ulimit -n 65536, or LimitNOFILE in its unit"
  )
}

type Limit = { limit: number | null; maximum: number | null; needed: number }

function examineLimit(name: string, of: string, limit: Limit, advice: string): Finding {
  const text = `${numberText(limit.limit)} (maximum ${numberText(limit.maximum)}) ${of}`
  const isEnough = limit.limit === null || limit.limit >= limit.needed
  return isEnough ? ok(name, text) : warn(name, text, advice)
}

function numberText(limit: number | null): string {
  return limit === null ? "unlimited" : String(limit)
}
