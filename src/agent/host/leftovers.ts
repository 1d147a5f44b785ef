import type { ProcessIdentity } from "../../execution/record.ts"
import { allPids, isAlive, readStat } from "../../service/os/proc.ts"
import { SIGKILL, signalProcess } from "../../service/os/signals.ts"

const roundMs = 20
const mostRounds = 250

/**
 * Ends every process below this one, except those that are spared. The shells of an agent's tools
 * lead sessions of their own: when it is killed, they go on, as children of this process.
 */
export async function endDescendants(isSpared: (pid: number) => boolean): Promise<number> {
  const ended = new Set<number>()
  for (let round = 0; round < mostRounds; round += 1) {
    const left = descendants(isSpared)
    if (left.length === 0) break
    for (const identity of left) {
      signalProcess(identity, SIGKILL)
      ended.add(identity.pid)
    }
    await Bun.sleep(roundMs)
  }
  return ended.size
}

function descendants(isSpared: (pid: number) => boolean): ProcessIdentity[] {
  const stats = allPids().flatMap((pid) => {
    const stat = readStat(pid)
    return isAlive(stat) && !isSpared(pid) ? [stat] : []
  })
  const below = new Set([process.pid])
  for (let size = 0; size !== below.size; ) {
    size = below.size
    for (const { pid, parent } of stats) if (below.has(parent)) below.add(pid)
  }
  below.delete(process.pid)
  return stats.filter(({ pid }) => below.has(pid))
}
