import { existsSync, readdirSync } from "node:fs"
import { executionMarker } from "../../src/execution/id.ts"
import type { ProcessIdentity } from "../../src/execution/record.ts"
import { allPids, isAlive, readEnvironment, readStat } from "../../src/service/os/proc.ts"
import { readTreeMemory } from "../../src/service/os/trees/tree-memory.ts"
import type { Service } from "./service.ts"
import { until } from "./until.ts"

/** The process a pid means at this moment. */
export function identify(pid: number): ProcessIdentity {
  const stat = readStat(pid)
  if (!isAlive(stat)) throw new Error(`there is no process ${pid}`)
  return { pid, startTicks: stat.startTicks }
}

export function isStillThere({ pid, startTicks }: ProcessIdentity): boolean {
  const stat = readStat(pid)
  return isAlive(stat) && stat.startTicks === startTicks
}

/** CPU time in clock ticks, of each. */
export function ticksOf(processes: ProcessIdentity[]): number[] {
  return processes.map(({ pid }) => {
    const stat = readStat(pid)
    if (stat === null) throw new Error(`process ${pid} is gone`)
    return stat.userTicks + stat.systemTicks
  })
}

/** Live processes whose environment names the execution. */
export function markedBy(executionId: string): number[] {
  const marker = `${executionMarker}=${executionId}`
  return allPids().filter(
    (pid) => isAlive(readStat(pid)) && readEnvironment(pid).split("\0").includes(marker),
  )
}

/** Zombies that wait for their parent to take them away. */
export function zombiesOf(parent: number): number[] {
  return allPids().filter((pid) => {
    const stat = readStat(pid)
    return stat?.parent === parent && stat.state === "Z"
  })
}

/** Live processes below one, by their parents. */
export function descendantsOf(ancestor: number): ProcessIdentity[] {
  const children = allPids()
    .map(readStat)
    .filter((stat) => stat?.parent === ancestor)
    .filter(isAlive)
  return children.flatMap((child) => [
    { pid: child.pid, startTicks: child.startTicks },
    ...descendantsOf(child.pid),
  ])
}

/** How many of its standard output and error a process has open. */
export function outputsOf(pid: number): number {
  return [1, 2].filter((fd) => existsSync(`/proc/${pid}/fd/${fd}`)).length
}

/** Nothing runs any more: neither what was seen, nor what is marked, nor what has a cgroup. */
export async function expectNothingLeft(
  service: Service,
  executionId: string,
  seen: ProcessIdentity[] = [],
): Promise<void> {
  expectNoProcess(executionId, seen)
  // The kernel takes the last process of a cgroup apart after it is gone from sight.
  await until("no cgroup is left", () => cgroupsOf(service).length === 0)
}

/** The same of one execution, where others may still run. */
export async function expectNothingLeftOf(
  service: Service,
  executionId: string,
  seen: ProcessIdentity[] = [],
): Promise<void> {
  expectNoProcess(executionId, seen)
  await until("its cgroup is gone", () => !cgroupsOf(service).includes(executionId))
}

function expectNoProcess(executionId: string, seen: ProcessIdentity[]): void {
  const left = [...seen.filter(isStillThere).map(({ pid }) => pid), ...markedBy(executionId)]
  if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`)
}

/** The cgroups of a service's executions. */
function cgroupsOf(service: Service): string[] {
  const base = readTreeMemory(service.stateDir)?.cgroupBase ?? null
  if (base === null || !existsSync(base)) return []
  const entries = readdirSync(base, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}
