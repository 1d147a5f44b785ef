import type { Failure } from "../../protocol/failure.ts"

/** Refusals that wait at the same time; past it they are told at once. */
const mostWaiting = 1000
const longestMs = 1000

/**
 * Whoever asks too fast waits for the answer that says so: one that asks again at once asks
 * hundreds of times a second otherwise, and each time costs the others.
 */
export class Tarpit {
  readonly #after: (delayMs: number) => Promise<void>
  #waiting = 0

  constructor(after: (delayMs: number) => Promise<void>) {
    this.#after = after
  }

  async hold({ reason, details }: Failure): Promise<void> {
    if (reason !== "RATE_LIMITED" || this.#waiting >= mostWaiting) return
    const retryAfter = details?.["retry_after"]
    this.#waiting += 1
    await this.#after(typeof retryAfter === "number" ? Math.min(longestMs, retryAfter * 1000) : 0)
    this.#waiting -= 1
  }
}
