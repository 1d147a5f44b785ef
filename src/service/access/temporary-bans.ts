import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import type { Caller } from "./caller.ts"

const banMs = 5000
const mostBans = 10_000

/** A client that was cut off for flooding may not reconnect at once; its other addresses may. */
export class TemporaryBans {
  readonly #untilMs = new Map<string, number>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  ban(caller: Caller): void {
    const nowMs = this.#nowMs()
    for (const [who, untilMs] of this.#untilMs) if (untilMs <= nowMs) this.#untilMs.delete(who)
    const [oldest] = this.#untilMs.keys()
    if (this.#untilMs.size >= mostBans && oldest !== undefined) this.#untilMs.delete(oldest)
    this.#untilMs.set(keyOf(caller), nowMs + banMs)
  }

  check(caller: Caller): Result<null, Failure> {
    const leftMs = (this.#untilMs.get(keyOf(caller)) ?? 0) - this.#nowMs()
    if (leftMs <= 0) return ok(null)
    const message = `${caller.principal} was disconnected for sending too fast: wait, then retry.`
    return fail(failure("RATE_LIMITED", message, { retry_after: Math.ceil(leftMs / 1000) }))
  }
}

function keyOf({ principal, address }: Caller): string {
  return `${principal} ${address}`
}

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
