import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { ExecutionId } from "../../../execution/id.ts"
import type { ProcessIdentity } from "../../../execution/record.ts"
import type { Sweep } from "../../keeper/ports.ts"
import {
  allPids,
  isAlive,
  type ProcessStat,
  readEnvironment,
  readStat,
  survivorOf,
} from "../proc.ts"
import { SIGKILL, signalProcess } from "../signals.ts"
import { isCgroupBaseOf } from "./cgroup-base.ts"
import { killCgroup, removeEmptyCgroups } from "./cgroup-tree.ts"
import { executionMarker } from "./forest.ts"
import { readTreeMemory, type TreeMemory } from "./tree-memory.ts"

const limitMs = 5000
const mostFutileRounds = 20
const mostRemoveTries = 50
const removeRetryMs = 10

/**
 * Ends everything a dead keeper left: its gateway, its cgroups, and the trees of the executions
 * that the journal knows no end of. Answers what became of each tree.
 */
export async function endLeftovers(
  stateDir: string,
  cgroupBase: string | null,
  unfinished: ReadonlyArray<{ id: ExecutionId; leader: ProcessIdentity | null }>,
): Promise<Map<ExecutionId, Sweep>> {
  const memory = readTreeMemory(stateDir)
  if (memory?.gateway && memory.gateway.pid !== process.pid) {
    signalProcess(memory.gateway, SIGKILL)
  }
  for (const base of new Set([rememberedBase(stateDir, memory), cgroupBase])) {
    if (base !== null) await sweepCgroups(base)
    if (base !== null && base !== cgroupBase) await removeBase(base)
  }
  // Without a memory of this boot, a pid in the journal means somebody else by now.
  const left = unfinished.map(({ id, leader }) => ({
    id,
    leader: memory === null ? null : leader,
    seen: memory?.seen[id] ?? [],
  }))
  // And whatever else had a tree: a program that was asked whether it could take over.
  const known = new Set(left.map(({ id }) => id))
  for (const [id, seen] of Object.entries(memory?.seen ?? {})) {
    if (!known.has(id)) left.push({ id, leader: null, seen })
  }
  return sweepTrees(left)
}

/** A path that somebody else wrote there would have the empty directories below it removed. */
function rememberedBase(stateDir: string, memory: TreeMemory | null): string | null {
  const base = memory?.cgroupBase ?? null
  return base !== null && isCgroupBaseOf(stateDir, base) ? base : null
}

type LeftBehind = {
  id: ExecutionId
  leader: ProcessIdentity | null
  /** Processes that the dead keeper had seen in the tree. */
  seen: readonly ProcessIdentity[]
}

async function sweepTrees(left: readonly LeftBehind[]): Promise<Map<ExecutionId, Sweep>> {
  const sweeps = new Map<ExecutionId, Sweep>()
  for (const tree of left) sweeps.set(tree.id, { ended: 0, survivors: [] })

  const deadline = performance.now() + limitMs
  let futile = 0
  while (true) {
    const found = findMembers(left)
    let signaled = 0
    for (const { id, stat } of found) {
      const sweep = sweeps.get(id)
      if (sweep === undefined || !signalProcess(stat, SIGKILL)) continue
      sweep.ended += 1
      signaled += 1
    }
    if (found.length === 0) return sweeps
    // Who may not be signaled, as another user's process, does not end by waiting.
    futile = signaled === 0 ? futile + 1 : 0
    if (futile > mostFutileRounds || performance.now() > deadline) {
      for (const { id, stat } of found) {
        sweeps.get(id)?.survivors.push(survivorOf(stat))
      }
      return sweeps
    }
    await Bun.sleep(5)
  }
}

/** Ends whatever runs in an instance's cgroups, and removes them. */
async function sweepCgroups(base: string): Promise<void> {
  if (!existsSync(base)) return
  const executions = readdirSync(base).filter((name) => ExecutionId.safeParse(name).success)
  await Promise.all(executions.map((name) => killCgroup(join(base, name), limitMs)))
}

/** Nobody uses it any more. The kernel may still be taking the last process in it apart. */
async function removeBase(base: string): Promise<void> {
  for (let tries = 0; tries < mostRemoveTries; tries++) {
    if (removeEmptyCgroups(base)) return
    await Bun.sleep(removeRetryMs)
  }
}

function findMembers(left: readonly LeftBehind[]): Array<{ id: ExecutionId; stat: ProcessStat }> {
  const found: Array<{ id: ExecutionId; stat: ProcessStat }> = []
  if (left.length === 0) return found
  for (const pid of allPids()) {
    const stat = pid === process.pid ? null : readStat(pid)
    if (!isAlive(stat)) continue
    const tree = left.find((candidate) => belongs(stat, candidate))
    if (tree !== undefined) found.push({ id: tree.id, stat })
  }
  return found
}

function belongs(stat: ProcessStat, { id, leader, seen }: LeftBehind): boolean {
  const isSeen = seen.some((one) => one.pid === stat.pid && one.startTicks === stat.startTicks)
  if (isSeen) return true
  // A session or group goes on under its leader's number, which is not given out again meanwhile;
  // whatever started before the leader only happens to have that number.
  const isInSession = leader !== null && (stat.session === leader.pid || stat.group === leader.pid)
  if (isInSession && stat.startTicks >= leader.startTicks) return true
  return readEnvironment(stat.pid).includes(`${executionMarker}=${id}`)
}
