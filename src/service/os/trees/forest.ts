import type { HandedForest } from "../../../execution/handover.ts"
import { type ExecutionId, executionMarker } from "../../../execution/id.ts"
import type { ProcessIdentity } from "../../../execution/record.ts"
import { allPids, isAlive, type ProcessStat, readEnvironment, readStat } from "../proc.ts"
import { SIGKILL, SIGSTOP, signalProcess } from "../signals.ts"

type Tree = {
  leader: ProcessIdentity
  /** Until its number is seen to mean another process, its session and group are this tree's. */
  hasSession: boolean
  /** Every process ever seen in this tree: pid → start time. Survives a lost parent or session. */
  seen: Map<number, number>
}

/** The suspects are one set for a whole family of strays. */
type Stray = { identity: ProcessIdentity; suspects: Set<ExecutionId> }

/** Whose the processes are that were seen before, and the leaders' sessions and groups. */
type KnownOwners = { byPid: Map<number, ExecutionId>; bySession: Map<number, ExecutionId> }

const freshMs = 5
const neverLooked = { atMs: -Infinity, found: new Map<ExecutionId, ProcessStat[]>() }

/** A stray that forks may get away from one attempt to end its family. */
const mostAttempts = 5

/**
 * Finds out, without a cgroup, which process belongs to which execution: by group, session, parent
 * and environment marker, and by a memory of who was seen where. What was double-forked, left its
 * session and emptied its environment still becomes a child of this process (the subreaper); if
 * nobody saw it before, it is a stray: it belongs to the only execution that lived when it came, or
 * is ended when the last of several that lived then has ended.
 */
export class Forest {
  readonly #trees = new Map<ExecutionId, Tree>()
  readonly #strays = new Map<number, Stray>()
  /** Processes that carry no marker now never will: pid → start time. */
  readonly #unmarked = new Map<number, number>()
  /** What an entrypoint had started before it became this process, and its offspring. */
  readonly #bystanders = new Map<number, number>()
  readonly #isOwnChild: (pid: number) => boolean
  readonly #ownSession = readStat(process.pid)?.session
  #lastLook = neverLooked

  constructor(isOwnChild: (pid: number) => boolean, handed: HandedForest | null = null) {
    this.#isOwnChild = isOwnChild
    if (handed === null) this.#noteBystanders()
    else this.#restore(handed)
  }

  /** All that was learned, but what one look at /proc tells again. */
  handOver(): HandedForest {
    const listed = (known: ReadonlyMap<number, number>) =>
      [...known].map(([pid, startTicks]) => ({ pid, startTicks }))
    return {
      trees: [...this.#trees].map(([id, tree]) => ({ id, ...tree, seen: listed(tree.seen) })),
      strays: [...this.#strays.values()].map(({ identity, suspects }) => ({
        identity,
        suspects: [...suspects],
      })),
      bystanders: listed(this.#bystanders),
    }
  }

  #noteBystanders(): void {
    for (const { pid, parent, startTicks } of liveProcesses().values()) {
      if (parent === process.pid && !this.#isOwnChild(pid)) this.#bystanders.set(pid, startTicks)
    }
  }

  #restore({ trees, strays, bystanders }: HandedForest): void {
    const byPid = (seen: readonly ProcessIdentity[]) =>
      new Map(seen.map(({ pid, startTicks }) => [pid, startTicks]))
    for (const { id, leader, hasSession, seen } of trees) {
      this.#trees.set(id, { leader, hasSession, seen: byPid(seen) })
    }
    for (const { identity, suspects } of strays) {
      this.#strays.set(identity.pid, { identity, suspects: new Set(suspects) })
    }
    for (const [pid, startTicks] of byPid(bystanders)) this.#bystanders.set(pid, startTicks)
  }

  get isEmpty(): boolean {
    return this.#trees.size === 0
  }

  add(id: ExecutionId, leader: ProcessIdentity): void {
    const seen = new Map([[leader.pid, leader.startTicks]])
    this.#trees.set(id, { leader, hasSession: true, seen })
    this.#lastLook = neverLooked // it did not see this one
  }

  remove(id: ExecutionId): void {
    // What could not be ended is given up, not up for adoption by another tree.
    for (const [pid, ticks] of this.#trees.get(id)?.seen ?? []) this.#bystanders.set(pid, ticks)
    this.#trees.delete(id)
    this.#lastLook = neverLooked // a stray may have found its tree by that
    for (const { suspects } of this.#strays.values()) suspects.delete(id)
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      if (![...this.#strays.values()].some(hasNoSuspects)) return
      this.scan()
      const doomed = [...this.#strays.values()].filter(hasNoSuspects)
      for (const { identity } of doomed) signalProcess(identity, SIGSTOP)
      for (const { identity } of doomed) signalProcess(identity, SIGKILL)
    }
  }

  /**
   * One tree's members, as of a few milliseconds ago at most: a hundred trees that end at once
   * share a look at every process, instead of taking one each.
   */
  members(id: ExecutionId): ProcessStat[] {
    const isFresh = performance.now() - this.#lastLook.atMs < freshMs
    return isFresh ? (this.#lastLook.found.get(id) ?? []) : this.membersNow(id)
  }

  membersNow(id: ExecutionId): ProcessStat[] {
    const found = this.scan()
    this.#lastLook = { atMs: performance.now(), found }
    return found.get(id) ?? []
  }

  /** Looks at every process once and remembers what it learns. */
  scan(): Map<ExecutionId, ProcessStat[]> {
    const stats = liveProcesses()
    this.#forgetTheGone(stats)
    const known = this.#knownOwners()

    const found = new Map<ExecutionId, ProcessStat[]>()
    for (const stat of stats.values()) {
      const id = this.#ownerOf(stat, stats, known)
      if (id === null) continue
      this.#trees.get(id)?.seen.set(stat.pid, stat.startTicks)
      known.byPid.set(stat.pid, id)
      const members = found.get(id)
      if (members === undefined) found.set(id, [stat])
      else members.push(stat)
    }
    return found
  }

  /**
   * Scans, and answers everybody known to be in a tree, or suspected to be: when this process
   * dies, all trees end at once, and with them what may belong to any of them.
   */
  remembered(): Record<ExecutionId, ProcessIdentity[]> {
    this.scan()
    const strays = [...this.#strays.values()]
    const remember = (id: ExecutionId, { seen }: Tree) => [
      ...[...seen].map(([pid, startTicks]) => ({ pid, startTicks })),
      ...strays.filter(({ suspects }) => suspects.has(id)).map(({ identity }) => identity),
    ]
    return Object.fromEntries([...this.#trees].map(([id, tree]) => [id, remember(id, tree)]))
  }

  #ownerOf(
    stat: ProcessStat,
    stats: Map<number, ProcessStat>,
    known: KnownOwners,
  ): ExecutionId | null {
    // A process belongs to the execution of its nearest ancestor whose execution is known.
    let ancestor: ProcessStat | undefined = stat
    for (let depth = 0; ancestor !== undefined && depth < 1000; depth++) {
      const id = this.#knownOwner(ancestor, known)
      if (id !== null) return id
      if (ancestor.parent === process.pid) return this.#ownerOfAdopted(stat, ancestor)
      ancestor = stats.get(ancestor.parent)
    }
    return null
  }

  /** Whoever is gone has been forgotten: a number that is known is the process that was seen. */
  #knownOwners(): KnownOwners {
    const byPid = new Map<number, ExecutionId>()
    const bySession = new Map<number, ExecutionId>()
    for (const [id, { leader, hasSession, seen }] of this.#trees) {
      for (const pid of seen.keys()) byPid.set(pid, id)
      if (hasSession) bySession.set(leader.pid, id)
    }
    return { byPid, bySession }
  }

  #knownOwner(stat: ProcessStat, { byPid, bySession }: KnownOwners): ExecutionId | null {
    const id = byPid.get(stat.pid) ?? bySession.get(stat.session) ?? bySession.get(stat.group)
    return id ?? this.#ownerByMarker(stat)
  }

  #ownerByMarker(stat: ProcessStat): ExecutionId | null {
    if (this.#unmarked.get(stat.pid) === stat.startTicks) return null
    const marker = new RegExp(`(?:^|\\0)${executionMarker}=([a-z2-7]{26})`)
    const id = marker.exec(readEnvironment(stat.pid))?.[1]
    if (id !== undefined && this.#trees.has(id)) return id
    this.#unmarked.set(stat.pid, stat.startTicks)
    return null
  }

  /** `top` is the child of ours that the process descends from, or is. */
  #ownerOfAdopted(stat: ProcessStat, top: ProcessStat): ExecutionId | null {
    if (this.#isOwnChild(top.pid)) return null
    if (this.#isBystander(top)) {
      this.#bystanders.set(stat.pid, stat.startTicks)
      return null
    }
    const family = this.#strays.get(top.pid) ?? this.#strays.get(stat.pid)
    const suspects = family?.suspects ?? new Set(this.#trees.keys())
    const [only] = suspects
    if (suspects.size === 1 && only !== undefined) return only
    for (const { pid, startTicks } of [top, stat]) {
      if (!this.#strays.has(pid)) this.#strays.set(pid, { identity: { pid, startTicks }, suspects })
    }
    return null
  }

  /** Executions have sessions of their own, and nobody finds the way back into an older one. */
  #isBystander({ pid, startTicks, session }: ProcessStat): boolean {
    return session === this.#ownSession || this.#bystanders.get(pid) === startTicks
  }

  #forgetTheGone(stats: Map<number, ProcessStat>): void {
    const isGone = (pid: number, startTicks: number) => stats.get(pid)?.startTicks !== startTicks
    for (const known of [this.#unmarked, this.#bystanders]) {
      for (const [pid, ticks] of known) if (isGone(pid, ticks)) known.delete(pid)
    }
    for (const [pid, { identity }] of this.#strays) {
      if (isGone(pid, identity.startTicks)) this.#strays.delete(pid)
    }
    for (const tree of this.#trees.values()) {
      for (const [pid, ticks] of tree.seen) if (isGone(pid, ticks)) tree.seen.delete(pid)
      // A number is given out again only when no session and no group has it any more.
      const { pid, startTicks } = tree.leader
      if (stats.has(pid) && isGone(pid, startTicks)) tree.hasSession = false
    }
  }
}

function hasNoSuspects({ suspects }: Stray): boolean {
  return suspects.size === 0
}

function liveProcesses(): Map<number, ProcessStat> {
  const stats = new Map<number, ProcessStat>()
  for (const pid of allPids()) {
    const stat = readStat(pid)
    if (isAlive(stat)) stats.set(pid, stat)
  }
  return stats
}
