import { fail, ok, type Result } from "../lib/result.ts"
import type { EngineFailure, Stored, Table } from "./engine-port.ts"
import type { NodeEntry } from "./entries.ts"
import type { FleetTimes } from "./members.ts"

export type LeaseState =
  /** It has not joined yet, or its lease had run out: it starts nothing. */
  | "joining"
  | "held"
  /** Another process has joined under this node's name since: this one stays out. */
  | "superseded"

export type LeasePorts = {
  node: string
  instance: string
  times: FleetTimes
  nodes: Pick<Table<NodeEntry>, "get" | "create" | "replace">
  /** What the lease says besides itself. */
  facts: () => Omit<NodeEntry, "instance" | "epoch" | "beat">
  monotonicMs: () => number
  /** What this node runs is made known again, before anything new may start. */
  reassert: (epoch: number) => Promise<boolean>
  /** The engine has forgotten what it had acknowledged. */
  wentBack: () => void
}

/**
 * This node's place in the fleet: a key that only it writes, renewed by naming the revision before.
 * The revision at which it joins is its epoch. A lease that was not renewed in time is over: the
 * node joins again, with another epoch, and what was placed with the one before it is refused.
 */
export class Lease {
  readonly #ports: LeasePorts
  state: LeaseState = "joining"
  #epoch = 0
  #beat = 0
  #revision: number | null = null
  #renewedAtMs = Number.NEGATIVE_INFINITY

  constructor(ports: LeasePorts) {
    this.#ports = ports
  }

  /** The epoch in which this node may start something now; null when it may not. */
  epoch(): number | null {
    return this.state === "held" && !this.#hasRunOut() ? this.#epoch : null
  }

  /** To be called every beat; says why it could not be renewed. */
  async renew(): Promise<Result<null, EngineFailure>> {
    if (this.state === "superseded") return fail({ kind: "conflict" })
    if (this.state === "joining" || this.#revision === null) return this.#join()
    if (this.#hasRunOut()) {
      this.state = "joining"
      return this.#join()
    }
    const written = await this.#write(this.#revision, this.#epoch)
    if (written.ok) return ok(null)
    return written.failure.kind === "conflict" ? this.#join() : written
  }

  async #join(): Promise<Result<null, EngineFailure>> {
    const { node, instance, nodes, wentBack, reassert } = this.#ports
    const found = await nodes.get(node)
    if (!found.ok) return found
    const before = found.value
    const hadJoined = this.#revision !== null
    if (hadJoined && before !== null && before.value.instance !== instance) {
      this.state = "superseded"
      return fail({ kind: "conflict" })
    }
    const isOlder = hadJoined && !this.#isOurLatest(before)
    if (hadJoined && !isOlder && before !== null && !this.#hasRunOut() && this.state === "held") {
      this.#revision = before.revision // our own renewal, of whose success we were not told
      this.#beat = before.value.beat
      return ok(null)
    }
    this.state = "joining"
    const joined = await this.#write(before?.revision ?? null, 0)
    if (!joined.ok) return joined
    this.#epoch = joined.value
    // That it could be written proves that the engine has nothing newer.
    if (isOlder) wentBack()
    if (!(await reassert(joined.value))) return fail({ kind: "unavailable", why: "not reasserted" })
    const announced = await this.#write(joined.value, joined.value)
    if (announced.ok) this.state = "held"
    return announced.ok ? ok(null) : announced
  }

  #isOurLatest(found: Stored<NodeEntry> | null): boolean {
    return found !== null && found.value.beat >= this.#beat
  }

  async #write(revision: number | null, epoch: number): Promise<Result<number, EngineFailure>> {
    const { node, instance, nodes, facts, monotonicMs } = this.#ports
    const askedAtMs = monotonicMs()
    const entry = { ...facts(), instance, epoch, beat: this.#beat + 1 }
    const written =
      revision === null
        ? await nodes.create(node, entry)
        : await nodes.replace(node, entry, revision)
    if (!written.ok) return written
    this.#beat = entry.beat
    this.#revision = written.value
    this.#renewedAtMs = askedAtMs
    return written
  }

  /** Others may have declared this node lost since. */
  #hasRunOut(): boolean {
    const { monotonicMs, times } = this.#ports
    return monotonicMs() - this.#renewedAtMs >= times.unreachableAfterMs
  }
}
