import type { HandedClocks } from "../../../execution/handover.ts"
import type { ExecutionSpec } from "../../../execution/spec.ts"
import type { StopCause } from "../../../execution/state.ts"
import type { Clock } from "../ports.ts"

const nothingRun: HandedClocks = { runningMs: 0, pausedMs: 0, wallMs: 0, idleMs: 0 }

/** The clocks of one execution: how long it runs, and its two timeouts. All stop while paused. */
export class RunningClocks {
  readonly #clock: Clock
  readonly #spec: Pick<ExecutionSpec, "wallTimeoutMs" | "idleTimeoutMs">
  readonly #expired: (cause: StopCause) => void
  #wall: Countdown | null = null
  #idle: Countdown | null = null
  #running: Stopwatch
  #paused: Stopwatch
  #isBlocked = false

  constructor(
    spec: Pick<ExecutionSpec, "wallTimeoutMs" | "idleTimeoutMs">,
    clock: Clock,
    expired: (cause: StopCause) => void,
  ) {
    this.#spec = spec
    this.#clock = clock
    this.#expired = expired
    this.#running = new Stopwatch(clock)
    this.#paused = new Stopwatch(clock)
  }

  start(before: HandedClocks = nothingRun, isPaused = false): void {
    this.#running = new Stopwatch(this.#clock, before.runningMs)
    this.#paused = new Stopwatch(this.#clock, before.pausedMs)
    if (!isPaused) this.#running.go()
    this.#wall = this.#countdown(this.#spec.wallTimeoutMs, "wall-timeout", before.wallMs)
    this.#idle = this.#countdown(this.#spec.idleTimeoutMs, "idle-timeout", before.idleMs)
    if (isPaused) this.pause()
  }

  handOver(): HandedClocks {
    return {
      ...this.read(),
      wallMs: this.#wall?.usedMs ?? 0,
      idleMs: this.#idle?.usedMs ?? 0,
    }
  }

  /** A byte went in or out. */
  active(): void {
    this.#idle?.restart()
  }

  /** A child that waits for its readers is not idle. */
  setBlocked(isBlocked: boolean): void {
    this.#isBlocked = isBlocked
    if (isBlocked) this.#idle?.stop()
    else if (this.#running.isGoing) this.#idle?.go()
  }

  pause(): void {
    this.#running.stop()
    this.#paused.go()
    this.#wall?.stop()
    this.#idle?.stop()
  }

  resume(): void {
    this.#paused.stop()
    this.#running.go()
    this.#wall?.go()
    if (!this.#isBlocked) this.#idle?.go()
  }

  /** The timeouts have no more to say; the stopwatches go on until the leader is gone. */
  disarm(): void {
    this.#wall?.[Symbol.dispose]()
    this.#idle?.[Symbol.dispose]()
    this.#wall = null
    this.#idle = null
  }

  stop(): void {
    this.disarm()
    this.#running.stop()
    this.#paused.stop()
  }

  read(): { runningMs: number; pausedMs: number } {
    return { runningMs: this.#running.ms, pausedMs: this.#paused.ms }
  }

  #countdown(limitMs: number | null, cause: StopCause, usedMs: number): Countdown | null {
    if (limitMs === null) return null
    return new Countdown(this.#clock, limitMs, () => this.#expired(cause), usedMs)
  }
}

/**
 * A timeout whose clock can be stopped. `restart` is cheap enough to be called for every chunk of
 * output: it only notes the time, and a timer that comes too early sets itself again.
 */
export class Countdown implements Disposable {
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #expired: () => void
  readonly #used: Stopwatch
  #timer: Disposable | null = null

  constructor(clock: Clock, limitMs: number, expired: () => void, usedMs = 0) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#expired = expired
    this.#used = new Stopwatch(clock, usedMs)
    this.go()
  }

  get usedMs(): number {
    return this.#used.ms
  }

  stop(): void {
    this.#used.stop()
    this.#timer?.[Symbol.dispose]()
    this.#timer = null
  }

  go(): void {
    if (this.#used.isGoing) return
    this.#used.go()
    this.#arm()
  }

  restart(): void {
    this.#used.reset()
  }

  [Symbol.dispose](): void {
    this.stop()
  }

  #arm(): void {
    const leftMs = Math.max(0, this.#limitMs - this.usedMs)
    this.#timer = this.#clock.after(leftMs, () => {
      this.#timer = null
      if (this.usedMs < this.#limitMs) this.#arm()
      else this.#expired()
    })
  }
}

class Stopwatch {
  readonly #clock: Clock
  #totalMs: number
  #sinceMs: number | null = null

  constructor(clock: Clock, totalMs = 0) {
    this.#clock = clock
    this.#totalMs = totalMs
  }

  get isGoing(): boolean {
    return this.#sinceMs !== null
  }

  get ms(): number {
    return this.#totalMs + (this.#sinceMs === null ? 0 : this.#clock.monotonicMs() - this.#sinceMs)
  }

  go(): void {
    this.#sinceMs ??= this.#clock.monotonicMs()
  }

  stop(): void {
    this.#totalMs = this.ms
    this.#sinceMs = null
  }

  /** From zero, going or not as before. */
  reset(): void {
    this.#totalMs = 0
    if (this.#sinceMs !== null) this.#sinceMs = this.#clock.monotonicMs()
  }
}
