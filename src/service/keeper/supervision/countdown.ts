import type { Clock } from "../ports.ts"

/**
 * A timeout whose clock can be stopped. `restart` is cheap enough to be called for every chunk of
 * output: it only notes the time, and a timer that comes too early sets itself again.
 */
export class Countdown implements Disposable {
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #expired: () => void
  #usedMs: number
  #runningSinceMs: number | null
  #timer: Disposable | null = null

  constructor(clock: Clock, limitMs: number, expired: () => void, usedMs = 0) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#expired = expired
    this.#usedMs = usedMs
    this.#runningSinceMs = clock.monotonicMs()
    this.#arm(limitMs - usedMs)
  }

  /** How much of the limit has passed. */
  get usedMs(): number {
    const sinceMs = this.#runningSinceMs
    return this.#usedMs + (sinceMs === null ? 0 : this.#clock.monotonicMs() - sinceMs)
  }

  stop(): void {
    this.#usedMs = this.usedMs
    this.#runningSinceMs = null
    this.#disarm()
  }

  go(): void {
    if (this.#runningSinceMs !== null) return
    this.#runningSinceMs = this.#clock.monotonicMs()
    this.#arm(this.#limitMs - this.#usedMs)
  }

  restart(): void {
    this.#usedMs = 0
    if (this.#runningSinceMs !== null) this.#runningSinceMs = this.#clock.monotonicMs()
  }

  [Symbol.dispose](): void {
    this.#runningSinceMs = null
    this.#disarm()
  }

  #arm(delayMs: number): void {
    this.#timer = this.#clock.after(Math.max(0, delayMs), () => this.#check())
  }

  #check(): void {
    this.#timer = null
    if (this.#runningSinceMs === null) return
    const { usedMs } = this
    if (usedMs < this.#limitMs) this.#arm(this.#limitMs - usedMs)
    else this.#expired()
  }

  #disarm(): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = null
  }
}
