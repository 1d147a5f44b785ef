import { Histogram, shortSeconds } from "./instruments.ts"

const sampleMs = 250

/**
 * How long this process's event loop makes others wait: a timer says when it should have run, and
 * whatever held it up would have held up a request or an exit as well. Four looks a second cost
 * nothing that can be measured.
 */
export class LoopLag implements Disposable {
  readonly lag = new Histogram(shortSeconds)
  readonly #timer: Timer
  #dueMs = performance.now() + sampleMs

  constructor() {
    this.#timer = setInterval(() => this.#look(performance.now()), sampleMs)
  }

  #look(nowMs: number): void {
    this.lag.observe((nowMs - this.#dueMs) / 1000)
    this.#dueMs = nowMs + sampleMs
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
