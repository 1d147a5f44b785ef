import { setImmediate, setTimeout } from "node:timers/promises"
import { fail } from "../../../lib/result.ts"
import { failure } from "../../../protocol/failure.ts"
import type { Caller } from "../../access/caller.ts"
import type { Answer } from "../ports.ts"

/** Of one principal; one more is refused. */
const mostWaiting = 256
const longestPauseMs = 50

type PrincipalQueue = { waiting: number; last: Promise<void> }

/**
 * Reads that keep this process busy for milliseconds: lists, transcripts, their verification. Those
 * of one principal come one after another, with a pause as long as each took. So whoever asks for
 * much, by however many connections, leaves half of the time to others, and waits for itself.
 */
export class ReadScheduler {
  readonly #queues = new Map<string, PrincipalQueue>()

  async run<Value>(caller: Caller, read: () => Answer<Value>): Answer<Value> {
    const { principal } = caller
    const queue = this.#queues.get(principal) ?? { waiting: 0, last: Promise.resolve() }
    if (queue.waiting >= mostWaiting) return fail(tooMany)
    this.#queues.set(principal, queue)
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = queue.last
    queue.last = promise
    queue.waiting += 1
    await before
    const startedMs = performance.now()
    try {
      return caller.isGone?.() === true ? fail(nobodyWaits) : await read()
    } finally {
      queue.waiting -= 1
      if (queue.waiting === 0) this.#queues.delete(principal)
      void pause(performance.now() - startedMs).then(resolve)
    }
  }
}

function pause(tookMs: number): Promise<void> {
  return tookMs < 1 ? setImmediate() : setTimeout(Math.min(tookMs, longestPauseMs))
}

const tooMany = failure(
  "RATE_LIMITED",
  `${mostWaiting} of your reads are waiting: wait for an answer first.`,
  { retry_after: 1 },
)

const nobodyWaits = failure("INVALID_REQUEST", "The connection was closed before its turn came.")
