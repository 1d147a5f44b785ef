import type { ProcessIdentity, StoppedProcess, Survivor } from "../../../execution/record.ts"
import { isShortage } from "../../../lib/exhaustion.ts"
import type { Child, Clock, ProcessTree } from "../ports.ts"
import { retriedWhileShort } from "../shortages.ts"
import { sleep } from "../sleep.ts"

export type StopReport = { stopped: StoppedProcess[]; survivors: Survivor[] }

export const nothingStopped: StopReport = { stopped: [], survivors: [] }

export type StopOrder = {
  graceMs: number // from SIGTERM to SIGKILL
  killLimitMs: number // how long to wait for the killed to be gone before calling them survivors
  /** Ends the grace early. */
  hurry: AbortSignal
}

const SIGTERM = 15
const SIGCONT = 18
const SIGKILL = 9
const firstLookMs = 2
const longestLookMs = 50

/**
 * Ends a whole tree: SIGTERM, grace, SIGKILL, and then a look whether anything is left. The report
 * says of every process seen which signal it was sent last and when it was found to be gone.
 */
export async function stopTree(
  tree: ProcessTree,
  order: StopOrder,
  clock: Clock,
): Promise<StopReport> {
  const startedMs = clock.monotonicMs()
  const watched = new WatchedProcesses(() => clock.monotonicMs() - startedMs)
  // Where something was short in the middle, some get a signal twice: better than not at all.
  const send = (signal: number) => retriedWhileShort(clock, () => tree.signal(signal))
  const look = () => retriedWhileShort(clock, () => tree.members())

  watched.look(await look(), "SIGTERM")
  await send(SIGTERM)
  // The signal waits in the frozen and the suspended; awake, it is the first thing they meet.
  await retriedWhileShort(clock, () => tree.thaw())
  await send(SIGCONT)
  const politely = await untilEmpty(order.graceMs, order.hurry, "SIGTERM")
  if (politely) return { stopped: watched.gone(), survivors: [] }

  const killed = await untilEmpty(order.killLimitMs, null, "SIGKILL")
  const survivors = killed ? [] : (await look()).map((member) => tree.describe(member))
  return { stopped: watched.gone(), survivors }

  async function untilEmpty(
    limitMs: number,
    hurry: AbortSignal | null,
    signal: "SIGTERM" | "SIGKILL",
  ): Promise<boolean> {
    const deadline = clock.monotonicMs() + limitMs
    let waitMs = firstLookMs
    while (true) {
      const members = await look()
      watched.look(members, signal)
      if (members.length === 0) return true
      if (clock.monotonicMs() >= deadline || hurry?.aborted === true) return false
      // Killed again at every look: whatever was forked since the last one is caught too.
      if (signal === "SIGKILL") await send(SIGKILL)
      await sleep(clock, Math.min(waitMs, Math.max(1, deadline - clock.monotonicMs())), hurry)
      waitMs = Math.min(waitMs * 2, longestLookMs)
    }
  }
}

const mostAttempts = 20
const betweenAttemptsMs = 500

/**
 * Kills a tree whose supervision broke. What broke it may break this too, so it is tried for a
 * while; then the leader is named as one who may have survived.
 */
export async function stopAtAnyRate(
  { tree, leader }: Pick<Child, "tree" | "leader">,
  killLimitMs: number,
  clock: Clock,
  failed: (error: unknown) => void,
): Promise<StopReport> {
  const order = { graceMs: 0, killLimitMs, hurry: AbortSignal.abort() }
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    try {
      return await stopTree(tree, order, clock)
    } catch (error) {
      failed(error)
      if (isShortage(error)) break // that was waited for already
      await sleep(clock, betweenAttemptsMs, null)
    }
  }
  return { stopped: [], survivors: [{ pid: leader.pid, command: "could not be inspected" }] }
}

class WatchedProcesses {
  readonly #elapsedMs: () => number
  readonly #alive = new Map<string, { pid: number; signal: string }>()
  readonly #gone: StoppedProcess[] = []

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
  }

  look(members: ProcessIdentity[], signal: string): void {
    const present = new Set(members.map(keyOf))
    for (const [key, { pid, signal: last }] of this.#alive) {
      if (present.has(key)) continue
      this.#gone.push({ pid, signal: last, ms: Math.round(this.#elapsedMs() * 10) / 10 })
      this.#alive.delete(key)
    }
    for (const member of members) this.#alive.set(keyOf(member), { pid: member.pid, signal })
  }

  gone(): StoppedProcess[] {
    return this.#gone
  }
}

function keyOf(identity: ProcessIdentity): string {
  return `${identity.pid}@${identity.startTicks}`
}
