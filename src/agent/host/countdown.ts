import type { HostClock } from "./host-clock.ts"

const stepMs = 1000

/**
 * Time that a person has to answer. It is counted in short steps, each only once however long it
 * took: while the execution is paused, or the machine sleeps, nobody could answer.
 */
export class Countdown implements Disposable {
  readonly #clock: HostClock
  readonly #calls: { due(): void; moved(): void }
  #leftMs: number
  #dueMs: number
  #timer: Disposable

  /** `moved` is called when it will be due later than was thought. */
  constructor(clock: HostClock, ms: number, calls: { due(): void; moved(): void }) {
    this.#clock = clock
    this.#calls = calls
    this.#leftMs = ms
    this.#dueMs = clock.now().getTime() + ms
    this.#timer = this.#next()
  }

  get dueAt(): Date {
    return new Date(this.#dueMs)
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]()
  }

  #next(): Disposable {
    const ms = Math.min(this.#leftMs, stepMs)
    return this.#clock.after(ms, () => this.#passed(ms))
  }

  #passed(ms: number): void {
    this.#leftMs -= ms
    if (this.#leftMs <= 0) return this.#calls.due()
    this.#timer = this.#next()
    const dueMs = this.#clock.now().getTime() + this.#leftMs
    if (Math.abs(dueMs - this.#dueMs) < 2 * stepMs) return
    this.#dueMs = dueMs
    this.#calls.moved()
  }
}
