import type { ExecutionRecord, Survivor } from "../../../execution/record.ts"
import type { ExecutionEvent, StopCause } from "../../../execution/state.ts"
import { ok, type Result } from "../../../lib/result.ts"
import { SerialQueue } from "../../../lib/serial-queue.ts"
import type { Failure } from "../../../protocol/failure.ts"
import type { Child, Clock } from "../ports.ts"
import { retriedWhileShort } from "../shortages.ts"
import { lingerUntilEmpty } from "./draining.ts"
import type { RunningClocks } from "./running-clocks.ts"
import { nothingStopped, type StopReport, stopAtAnyRate, stopTree } from "./stopping.ts"
import type { SupervisionSettings } from "./supervision-ports.ts"
import { wrongState } from "./wrong-state.ts"

export interface Steered {
  readonly record: ExecutionRecord
  /** Null before its start, and after its end. */
  readonly child: Child | null
  apply(event: ExecutionEvent): void
}

export class Steering {
  /** Of an execution that ends with its last driver; null for all others. */
  readonly lease: Lease | null
  readonly #steered: Steered
  readonly #settings: SupervisionSettings
  readonly #clock: Clock
  readonly #clocks: RunningClocks
  readonly #hurry = new AbortController()
  /** Aborted when nobody wants to wait any longer. */
  readonly hurried = this.#hurry.signal
  readonly #unkillable = Promise.withResolvers<Survivor[]>()
  /** Resolves with who survived where not even the leader could be ended; rejects when it broke. */
  readonly unkillable = this.#unkillable.promise
  /** One at a time: a freeze, a thaw and a stop never work against each other. */
  readonly #queue = new SerialQueue()
  #stop: Promise<StopReport> | null = null

  constructor(
    steered: Steered,
    settings: SupervisionSettings,
    clock: Clock,
    clocks: RunningClocks,
  ) {
    this.#steered = steered
    this.#settings = settings
    this.#clock = clock
    this.#clocks = clocks
    const isLeased = steered.record.spec.onDisconnect === "cancel"
    const leaseEnds = () => void this.stop("disconnected")
    this.lease = isLeased ? new Lease(clock, settings.disconnectLeaseMs, leaseEnds) : null
  }

  get isIdle(): boolean {
    return this.#queue.unfinished === 0
  }

  get wasStopped(): boolean {
    return this.#stop !== null
  }

  pause(): Promise<Result<ExecutionRecord, Failure>> {
    return this.#queue.run(async () => {
      const record = this.#steered.record
      const child = this.#steered.child
      if (record.state.kind === "paused") return ok(record)
      if (record.state.kind !== "running" || child === null) {
        return wrongState(record.state, "paused")
      }
      await this.#freeze(child)
      // It may have ended, or been told to stop, while the freeze was under way.
      const { state } = this.#steered.record
      if (state.kind !== "running") {
        await this.#thaw(this.#steered.child)
        return wrongState(state, "paused")
      }
      this.#clocks.pause()
      this.#steered.apply({ kind: "paused" })
      return ok(this.#steered.record)
    })
  }

  resume(): Promise<Result<ExecutionRecord, Failure>> {
    return this.#queue.run(async () => {
      const record = this.#steered.record
      const child = this.#steered.child
      if (record.state.kind === "running") return ok(record)
      if (record.state.kind !== "paused" || child === null) {
        return wrongState(record.state, "resumed")
      }
      await this.#thaw(child)
      this.#clocks.resume()
      this.#steered.apply({ kind: "resumed" })
      return ok(this.#steered.record)
    })
  }

  /** Answers how many processes it reached. */
  signal(signal: number): Result<number, Failure> {
    const child = this.#steered.child
    if (child === null) return wrongState(this.#steered.record.state, "signaled")
    return ok(child.tree.signal(signal))
  }

  /** Ends the tree; the report comes when it is gone. Asked again, the first stop answers. */
  stop(cause: StopCause): Promise<StopReport> {
    const child = this.#steered.child
    if (child === null) return Promise.resolve(nothingStopped)
    // Once it is stopping, whoever would steer it is refused at once.
    this.#stop ??= this.#queue.runAfterQueued(() => this.#stopTree(child, cause))
    this.#stop.catch(this.#unkillable.reject)
    return this.#stop
  }

  /** Something that its supervision relied on has failed. */
  broke(error: unknown): void {
    this.#unkillable.reject(error)
  }

  /** Ends the grace of a stop that is under way, or of one to come. */
  hurry(): void {
    this.#hurry.abort()
  }

  /** Ends what is left, for no cause of its own; where a stop is under way, that one answers. */
  stopRest(child: Child): Promise<StopReport> {
    this.#stop ??= this.#stopTree(child, null)
    return this.#stop
  }

  /** What outlived the leader may finish within the linger; then it is ended too. */
  async emptyTree(child: Child): Promise<StopReport> {
    const isEmpty = await lingerUntilEmpty(child.tree, this.#clock, {
      lingerMs: this.#settings.lingerMs,
      isOver: () => this.wasStopped,
      hurry: this.hurried,
    })
    return isEmpty ? nothingStopped : this.stopRest(child)
  }

  /** When its supervision broke: whatever was under way is not relied on. */
  stopBroken(child: Child, failed: (error: unknown) => void): Promise<StopReport> {
    this.#stop = stopAtAnyRate(child, this.#settings.killLimitMs, this.#clock, failed)
    return this.#stop
  }

  /** All of it, or nothing: what could not be paused runs on. */
  async #freeze(child: Child): Promise<void> {
    try {
      await child.tree.freeze()
    } catch (error) {
      await this.#thaw(child)
      throw error
    }
  }

  async #thaw(child: Child | null): Promise<void> {
    await retriedWhileShort(this.#clock, () => child?.tree.thaw())
  }

  async #stopTree(child: Child, cause: StopCause | null): Promise<StopReport> {
    this.#clocks.disarm()
    if (this.#steered.record.state.kind === "paused") this.#clocks.resume()
    if (cause !== null) this.#steered.apply({ kind: "stop-requested", cause })
    const order = { ...this.#settings, hurry: this.hurried }
    const report = await stopTree(child.tree, order, this.#clock)
    const isUnkillable = report.survivors.some(({ pid }) => pid === child.leader.pid)
    if (isUnkillable) this.#unkillable.resolve(report.survivors)
    return report
  }
}

/**
 * Runs out when nobody has held it for a while. It may be held before it begins: who waits for a
 * queued execution drives it already.
 */
export class Lease implements Disposable {
  readonly #clock: Clock
  readonly #durationMs: number
  readonly #ranOut: () => void
  #hasBegun = false
  #holders = 0
  #timer: Disposable | null = null

  constructor(clock: Clock, durationMs: number, ranOut: () => void) {
    this.#clock = clock
    this.#durationMs = durationMs
    this.#ranOut = ranOut
  }

  begin(): void {
    this.#hasBegun = true
    this.setHolders(this.#holders)
  }

  setHolders(count: number): void {
    this.#holders = count
    if (count > 0) this[Symbol.dispose]()
    else if (this.#hasBegun) this.#timer ??= this.#clock.after(this.#durationMs, this.#ranOut)
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = null
  }
}
