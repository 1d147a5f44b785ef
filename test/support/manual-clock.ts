import type { Clock } from "../../src/service/keeper/ports.ts"

type Timer = { dueMs: number; run: () => void }

/** Time that passes when a test says so, and timers that fire in their order. */
export class ManualClock implements Clock {
  readonly #startedAt = new Date("2026-01-01T00:00:00.000Z")
  readonly #timers = new Set<Timer>()
  #nowMs = 0

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size
  }

  now(): Date {
    return new Date(this.#startedAt.getTime() + this.#nowMs)
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, run: () => void): Disposable {
    const timer = { dueMs: this.#nowMs + delayMs, run }
    this.#timers.add(timer)
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) }
  }

  /** Lets time pass, and whatever becomes due meanwhile happen at its moment. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms
    for (let next = this.#next(untilMs); next !== null; next = this.#next(untilMs)) {
      this.#timers.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.dueMs)
      next.run()
    }
    this.#nowMs = untilMs
  }

  /** Time passes, but nothing happens in it, as in a process that is stopped. */
  sleep(ms: number): void {
    this.#nowMs += ms
  }

  /** As `advance`, for code that awaits between its timers. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    await settled()
    for (let next = this.#next(untilMs); next !== null; next = this.#next(untilMs)) {
      this.advance(next.dueMs - this.#nowMs)
      await settled()
    }
    this.advance(untilMs - this.#nowMs)
    await settled()
  }

  #next(untilMs: number): Timer | null {
    let next: Timer | null = null
    for (const timer of this.#timers) {
      if (timer.dueMs <= untilMs && (next === null || timer.dueMs < next.dueMs)) next = timer
    }
    return next
  }
}

/** Every promise that could be kept by now has been. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
