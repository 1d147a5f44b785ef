import { fail, ok, type Result } from "../../../lib/result.ts"
import { UsageCounter } from "../../../lib/usage-counter.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Caller } from "../../access/caller.ts"
import { isAdmin } from "../../access/permission.ts"
import type { StreamLimits } from "./streams/stream-limiter.ts"

/**
 * A call over HTTP is not a session: it keeps nothing once it is answered. But while it waits it
 * takes some 100 KiB, and a principal could fill all memory with calls that wait. So for every
 * session that it may have, a principal may have as many calls under way as a connection answers
 * at once.
 */
const callsPerSession = 8

/** Limits MCP calls over HTTP that have no answer yet: all together, and those of one principal. */
export class CallLimiter {
  readonly #most: number
  readonly #mostPerPrincipal: number
  readonly #underWay = new UsageCounter()

  constructor({ maxStreams, maxStreamsPerPrincipal }: StreamLimits) {
    this.#most = maxStreams * callsPerSession
    this.#mostPerPrincipal = maxStreamsPerPrincipal * callsPerSession
  }

  get underWay(): number {
    return this.#underWay.total
  }

  /** Released by disposing it. */
  acquire(caller: Caller): Result<DisposableStack, Failure> {
    const { principal } = caller
    const own = this.#underWay.of(principal)
    if (!isAdmin(caller) && own >= this.#mostPerPrincipal) {
      const message = `${own} calls of ${principal} are in progress: wait for an answer first.`
      return fail(failure("RATE_LIMITED", message, { retry_after: 1 }))
    }
    if (this.#underWay.total < this.#most) return ok(this.#underWay.acquire(principal))
    const message = `${this.#most} calls are in progress, which is the limit: try again later.`
    return fail(failure("AT_CAPACITY", message, { retry_after: 1 }))
  }
}

/** How long calls have for their last answer when the keeper is gone. */
const farewellMs = 500
const lookMs = 5

/** What was started must not be lost with its answer; the answer needs a moment to be sent. */
export async function untilAnswered(calls: CallLimiter): Promise<void> {
  const untilMs = performance.now() + farewellMs
  while (calls.underWay > 0 && performance.now() < untilMs) await Bun.sleep(lookMs)
  await Bun.sleep(lookMs)
}
