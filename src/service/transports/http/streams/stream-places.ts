import { HeldBy } from "../../../../lib/held-by.ts"
import { fail, ok, type Result } from "../../../../lib/result.ts"
import { type Failure, failure } from "../../../../protocol/failure.ts"
import type { Caller } from "../../../access/caller.ts"
import { isAdmin } from "../../../access/permission.ts"

export type StreamLimits = { maxStreams: number; maxStreamsPerPrincipal: number }

/** Answers that may go on for hours: so many at once, and so many of one principal. */
export class StreamPlaces {
  readonly #limits: StreamLimits
  readonly #taken = new HeldBy()

  constructor(limits: StreamLimits) {
    this.#limits = limits
  }

  /** A place, given back when it is disposed, once. */
  take(caller: Caller): Result<DisposableStack, Failure> {
    const { maxStreams, maxStreamsPerPrincipal } = this.#limits
    const { principal } = caller
    const own = this.#taken.of(principal)
    if (!isAdmin(caller) && own >= maxStreamsPerPrincipal) {
      return refused(`${principal} has ${own} streams open already`)
    }
    if (this.#taken.total >= maxStreams) return refused(`All ${maxStreams} streams are taken`)
    return ok(this.#taken.hold(principal))
  }
}

function refused(why: string): Result<never, Failure> {
  const message = `${why}: close one, or try again later.`
  return fail(failure("SESSION_LIMIT", message, { retry_after: 1 }))
}
