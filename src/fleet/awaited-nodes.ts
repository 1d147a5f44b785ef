import type { NodeEntry } from "./entries.ts"
import type { Members } from "./members.ts"

const longestMs = 60_000

/**
 * The nodes that have yet to join an engine again that has come back older than it was. Until they
 * have, it does not know what they run: placing something could start it twice.
 */
export class AwaitedNodes {
  readonly #members: Members
  readonly #monotonicMs: () => number
  readonly #limitMs: number
  /** Of the nodes there were when this node's lease was renewed last. */
  #before: ReadonlyMap<string, number> = new Map()
  readonly #awaited = new Map<string, number>()
  #untilMs = 0

  constructor(members: Members, lostAfterMs: number | null, monotonicMs: () => number) {
    this.#members = members
    this.#monotonicMs = monotonicMs
    this.#limitMs = lostAfterMs ?? longestMs
  }

  /** All is well: these are the nodes, each in its epoch. */
  renewed(): void {
    const reachable = this.#members.all().filter(({ name }) => this.#members.isReachable(name))
    this.#before = new Map(reachable.map(({ name, entry }) => [name, entry.epoch]))
  }

  /** Who was there, and has not joined again by now, is waited for. */
  begin(self: string): void {
    this.#awaited.clear()
    for (const [name, epoch] of this.#before) {
      const isAwaited = name !== self && this.#members.find(name)?.entry.epoch === epoch
      if (isAwaited) this.#awaited.set(name, epoch)
    }
    this.#untilMs = this.#monotonicMs() + this.#limitMs
  }

  heard(name: string, { epoch }: NodeEntry): void {
    const before = this.#awaited.get(name)
    if (before !== undefined && epoch !== 0 && epoch !== before) this.#awaited.delete(name)
  }

  /** Who has not come by then is lost, and what it ran is told to be. */
  names(): string[] {
    if (this.#monotonicMs() > this.#untilMs) this.#awaited.clear()
    return [...this.#awaited.keys()]
  }
}
