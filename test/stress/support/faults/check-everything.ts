import { readFileSync } from "node:fs"
import type { ExecutionView } from "../../../../src/protocol/execution-view.ts"
import { allPids, isAlive, readStat } from "../../../../src/service/os/proc.ts"
import { expectNothingLeft } from "../../../support/real-processes.ts"
import { until } from "../../../support/until.ts"
import type { FaultPlan } from "./fault-plan.ts"
import { finalRecord, listAll } from "./final-record.ts"
import { contradictions } from "./invariants.ts"
import type { Observations, ObservedExecution } from "./observations.ts"
import type { TriedService } from "./tried-service.ts"
import { unmarkedDaemon } from "./work.ts"

const mostMemoryMb = 100
const patienceMs = 40_000 // a gateway that died often is started again ever more slowly

/** The seven invariants, after everything; the service is ended by it. Answers what is wrong. */
export async function checkEverything(
  plan: FaultPlan,
  tried: TriedService,
  observed: Observations,
): Promise<string[]> {
  const list = () => listAll(tried.service).catch(() => null)
  const listed = await until("the service answers", list, patienceMs)
  const byKey = Map.groupBy(listed, ({ labels }) => labels["key"] ?? "")
  const wrong: string[] = []
  for (const execution of observed.executions) {
    const { key } = execution.planned
    const views = byKey.get(key) ?? []
    byKey.delete(key)
    wrong.push(...onTheList(execution, views, tried))
    for (const view of views) wrong.push(...(await onRecord(execution, view, tried)))
  }
  for (const key of byKey.keys()) wrong.push(`"${key}" is on the list, and nobody asked for it`)
  wrong.push(...(await leftBehind(plan, tried, observed, listed)))

  const exitCode = await tried.end()
  if (exitCode !== 0) wrong.push(`the service exited with ${exitCode}`)
  const { keeper, gateway } = tried.peakMb
  if (Math.max(keeper, gateway) >= mostMemoryMb) {
    wrong.push(`memory: keeper ${keeper} MB, gateway ${gateway} MB`)
  }
  return [...wrong, ...tried.complaints.map((line) => `the log says ${line}`)]
}

/** Invariants 5, 6 and 7: what was told to exist does, once, and what was refused does not. */
function onTheList(
  { planned, ids, refusals }: ObservedExecution,
  views: ExecutionView[],
  tried: TriedService,
): string[] {
  const { key, work } = planned
  const plannedRefusal = typeof work.ending === "string" ? work.ending : null
  const allowed = new Set([plannedRefusal, tried.wasDiskFull ? "DISK_FULL" : null])
  const strange = refusals.filter((reason) => !allowed.has(reason))
  const unlisted = [...ids].filter((id) => !views.some(({ execution_id }) => execution_id === id))
  return [
    ...(views.length > 1 ? [`"${key}" was started ${views.length} times`] : []),
    ...(ids.size > 1 ? [`"${key}" was told to be ${[...ids].join(" and ")}`] : []),
    ...unlisted.map((id) => `"${key}" was told to be ${id}, which is not on the list`),
    ...strange.map((reason) => `"${key}" was refused: ${reason}`),
    ...(plannedRefusal !== null && views.length > 0 ? [`"${key}" is listed, but was refused`] : []),
  ]
}

/** Invariants 1, 2 and 5, for one execution. */
async function onRecord(
  execution: ObservedExecution,
  view: ExecutionView,
  tried: TriedService,
): Promise<string[]> {
  if (view.state !== "ended") {
    const { key } = execution.planned
    return [`"${key}" (${view.execution_id}) is ${view.state}, and seems to stay so`]
  }
  return contradictions(execution, await finalRecord(tried.service, view), {
    keeperDied: execution.generation < tried.generation,
    diskWasFull: tried.wasDiskFull,
  })
}

/** Invariant 3: processes of executions that have ended, and their cgroups. */
async function leftBehind(
  { nap }: FaultPlan,
  tried: TriedService,
  observed: Observations,
  listed: ExecutionView[],
): Promise<string[]> {
  if (listed.some(({ state }) => state !== "ended")) return []
  const left = allPids().filter((pid) => isAlive(readStat(pid)) && commandOf(pid).endsWith(nap))
  for (const pid of left) process.kill(pid, "SIGKILL")
  tried.orphans = Math.max(0, left.length - excusedOf(tried, observed, listed))
  if (tried.orphans > 0) return [`left behind: ${left.join(", ")}`]
  if (left.length > 0) observed.happened(`left behind, as it may be: ${left.join(", ")}`)
  return expectNothingLeft(tried.service, "none").then(
    () => [],
    (error: unknown) => [String(error)],
  )
}

/**
 * One that is told by nothing whose it is is ended when all who might have started it have; in
 * best-effort containment a keeper that dies before takes this knowledge with it.
 */
function excusedOf(
  { generation }: TriedService,
  observed: Observations,
  listed: ExecutionView[],
): number {
  if (listed.some(({ containment }) => containment !== "best-effort")) return 0
  const isExcused = (one: ObservedExecution) =>
    one.planned.work.name === unmarkedDaemon && one.generation < generation
  return observed.executions.filter(isExcused).length
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()
  } catch {
    return "" // it has just ended
  }
}
