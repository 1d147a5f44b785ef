import { isErrno } from "../../../lib/errno.ts"
import { signalProcess } from "../signal-process.ts"
import { SIGKILL } from "../signals.ts"
import type { Enclosure } from "./containment.ts"

/** What forks faster than it is killed for so long is left to its containment. */
const mostLooks = 100

/** Who was killed starts nobody any more: it is over when a look finds only those. */
export function endAtOnce(leader: number, enclosure: Enclosure): void {
  signalGroup(leader, "SIGKILL")
  const killed = new Set<number>()
  for (let look = 0; look < mostLooks; look++) {
    const found = enclosure.membersNow().filter(({ pid }) => !killed.has(pid))
    if (found.length === 0) return
    for (const member of found) {
      signalProcess(member, SIGKILL)
      killed.add(member.pid)
    }
  }
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal)
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error // gone already
  }
}
