import type { NodeEntry, NodeOrder } from "./entries.ts"

export type FleetTimes = {
  /** Between two renewals of a lease. */
  beatMs: number
  /** Silence after which a node is not asked any more, and its lease is over. */
  unreachableAfterMs: number
  /** Silence after which its executions are declared lost; null: never by itself. */
  lostAfterMs: number | null
}

/** All times follow from one setting: a quarter of it is unreachable, a twelfth a beat. */
export function fleetTimes(lostAfterMs: number | null): FleetTimes {
  const unreachableAfterMs = Math.min(15_000, (lostAfterMs ?? Infinity) / 4)
  return { beatMs: unreachableAfterMs / 3, unreachableAfterMs, lostAfterMs }
}

export type MemberState = "joining" | "ready" | "draining" | "unreachable" | "forgotten"

export type Member = {
  name: string
  entry: NodeEntry
  state: MemberState
  silentMs: number
}

/** A renewal that is this late was missed. */
const missedBeats = 3

/**
 * The nodes as this one hears of them. Silence is measured by this process's own monotonic clock,
 * and counts only while this node hears itself, the same way as it hears the others.
 */
export class Members {
  readonly #self: string
  readonly #times: FleetTimes
  readonly #monotonicMs: () => number
  readonly #heard = new Map<string, { entry: NodeEntry; atMs: number }>()
  readonly #orders = new Map<string, NodeOrder>()
  #hearsItselfSinceMs: number | null = null

  constructor(self: string, times: FleetTimes, monotonicMs: () => number) {
    this.#self = self
    this.#times = times
    this.#monotonicMs = monotonicMs
  }

  heard(name: string, entry: NodeEntry): void {
    const nowMs = this.#monotonicMs()
    if (name === this.#self && !this.#hearsItself()) {
      // Whatever was said in between, this node could not hear it: all silences begin anew.
      for (const member of this.#heard.values()) member.atMs = nowMs
      this.#hearsItselfSinceMs = nowMs
    }
    this.#heard.set(name, { entry, atMs: nowMs })
  }

  removed(name: string): void {
    this.#heard.delete(name)
  }

  ordered(name: string, order: NodeOrder | null): void {
    if (order === null) this.#orders.delete(name)
    else this.#orders.set(name, order)
  }

  orderFor(name: string): NodeOrder | null {
    return this.#orders.get(name) ?? null
  }

  find(name: string): Member | null {
    const heard = this.#heard.get(name)
    if (heard === undefined) return null
    const silentMs = Math.max(0, this.#listenedUntilMs(name) - heard.atMs)
    return { name, entry: heard.entry, silentMs, state: this.#stateOf(name, heard.entry, silentMs) }
  }

  all(): Member[] {
    return [...this.#heard.keys()].flatMap((name) => this.find(name) ?? [])
  }

  /** Whether it may be asked something, and may ask. */
  isMember(name: string): boolean {
    return this.#heard.has(name) && this.#orders.get(name)?.forgotten !== true
  }

  isReachable(name: string): boolean {
    const state = this.find(name)?.state
    return state === "ready" || state === "draining" || state === "joining"
  }

  /**
   * The nodes that have been silent for too long, by what only this node has heard. None while more
   * than a third is silent at once: then it is not they who have failed.
   */
  lostNodes(): Member[] {
    const { lostAfterMs, unreachableAfterMs } = this.#times
    const since = this.#hearsItselfSinceMs
    if (lostAfterMs === null || since === null || !this.#hearsItself()) return []
    if (this.#monotonicMs() - since < lostAfterMs) return []
    const members = this.all().filter(({ state }) => state !== "forgotten")
    const silent = members.filter(({ silentMs }) => silentMs >= unreachableAfterMs)
    if (silent.length * 3 > members.length) return []
    return silent.filter(({ silentMs }) => silentMs >= lostAfterMs)
  }

  /** While this node hears nothing of itself, it knows nothing of the silence of others. */
  #listenedUntilMs(name: string): number {
    const own = this.#heard.get(this.#self)
    const isListening = own === undefined || name === this.#self || this.#hearsItself()
    return isListening ? this.#monotonicMs() : own.atMs
  }

  #hearsItself(): boolean {
    const own = this.#heard.get(this.#self)
    if (own === undefined) return false
    return this.#monotonicMs() - own.atMs <= this.#times.beatMs * missedBeats
  }

  #stateOf(name: string, entry: NodeEntry, silentMs: number): MemberState {
    const order = this.#orders.get(name)
    if (order?.forgotten === true) return "forgotten"
    if (silentMs >= this.#times.unreachableAfterMs) return "unreachable"
    if (entry.epoch === 0) return "joining"
    return order?.drained === true ? "draining" : "ready"
  }
}
