import { fail, ok, type Result } from "../../../../lib/result.ts"
import { UsageCounter } from "../../../../lib/usage-counter.ts"
import { type Failure, failure } from "../../../../protocol/failure.ts"
import type { Caller } from "../../../access/caller.ts"
import { isAdmin } from "../../../access/permission.ts"

export type StreamLimits = { maxStreams: number; maxStreamsPerPrincipal: number }

/** Limits long-lived responses: all together, and those of one principal. */
export class StreamLimiter {
  readonly #limits: StreamLimits
  readonly #open = new UsageCounter()

  constructor(limits: StreamLimits) {
    this.#limits = limits
  }

  /** A slot for one stream, released by disposing it. */
  acquire(caller: Caller): Result<DisposableStack, Failure> {
    const { maxStreams, maxStreamsPerPrincipal } = this.#limits
    const { principal } = caller
    const own = this.#open.of(principal)
    if (!isAdmin(caller) && own >= maxStreamsPerPrincipal) {
      return refused(`${principal} has ${own} open streams already`)
    }
    if (this.#open.total >= maxStreams) return refused(`All ${maxStreams} streams are taken`)
    return ok(this.#open.acquire(principal))
  }
}

function refused(why: string): Result<never, Failure> {
  const message = `${why}: close one, or try again later.`
  return fail(failure("SESSION_LIMIT", message, { retry_after: 1 }))
}
