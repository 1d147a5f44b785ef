import type { Caller } from "../access/caller.ts"
import { isAdmin } from "../access/permission.ts"
import { fail, ok, type Result } from "../execution/result.ts"
import { type Failure, failure } from "../protocol/failure.ts"

export type StreamLimits = { maxStreams: number; maxStreamsPerPrincipal: number }

/** Answers that may go on for hours: so many at once, and so many of one principal. */
export class StreamPlaces {
  readonly #limits: StreamLimits
  readonly #byPrincipal = new Map<string, number>()
  #taken = 0

  constructor(limits: StreamLimits) {
    this.#limits = limits
  }

  /** A place, given back when it is disposed, once. */
  take(caller: Caller): Result<DisposableStack, Failure> {
    const { maxStreams, maxStreamsPerPrincipal } = this.#limits
    const { principal } = caller
    const own = this.#byPrincipal.get(principal) ?? 0
    if (!isAdmin(caller) && own >= maxStreamsPerPrincipal) {
      return refused(`${principal} has ${own} streams open already`)
    }
    if (this.#taken >= maxStreams) return refused(`All ${maxStreams} streams are taken`)
    this.#taken += 1
    this.#byPrincipal.set(principal, own + 1)
    const place = new DisposableStack()
    place.defer(() => this.#giveBack(principal))
    return ok(place)
  }

  #giveBack(principal: string): void {
    this.#taken -= 1
    const left = (this.#byPrincipal.get(principal) ?? 1) - 1
    if (left > 0) this.#byPrincipal.set(principal, left)
    else this.#byPrincipal.delete(principal)
  }
}

function refused(why: string): Result<never, Failure> {
  const message = `${why}: close one, or try again later.`
  return fail(failure("SESSION_LIMIT", message, { retry_after: 1 }))
}
