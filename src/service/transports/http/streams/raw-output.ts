import type { StreamName } from "../../../../execution/record.ts"
import { countText } from "../../../../lib/count-text.ts"
import { fail, ok, type Result } from "../../../../lib/result.ts"
import { type Failure, failure } from "../../../../protocol/failure.ts"
import type { FeedEvent, OutputFeed } from "../../../gateway/ports.ts"
import { FeedWalk } from "./feed-walk.ts"
import type { Pieces } from "./pulled-body.ts"

export type RawOutputOptions = { stream: StreamName; untilSequence: number | null }

/**
 * The bytes of one stream, nothing added and nothing left out: what cannot be said inside them, a
 * gap or a failure, is refused at the beginning and breaks the connection later. Owns the feed.
 */
export class RawOutput implements Pieces {
  readonly #walk: FeedWalk
  readonly #stream: StreamName
  #first: Uint8Array | null = null
  #isOver = false

  constructor(feed: OutputFeed, { stream, untilSequence }: RawOutputOptions) {
    this.#walk = new FeedWalk(feed, { form: "bytes", untilSequence })
    this.#stream = stream
  }

  /** Looks at what comes first, while there is still a status to tell a failure with. */
  begin(): Result<null, Failure> {
    let event = this.#walk.take()
    while (event?.kind === "state") event = this.#walk.take()
    if (event === null) return ok(null)
    const taken = this.#take(event)
    if (!taken.ok) return taken
    this.#first = taken.value
    return ok(null)
  }

  async next(): Promise<Uint8Array | null> {
    const first = this.#first
    this.#first = null
    if (first !== null) return first
    while (!this.#isOver) {
      const event = await this.#walk.next()
      if (event === null || event === "woken") return null
      const taken = this.#take(event)
      if (!taken.ok) throw new Error(taken.failure.message)
      if (taken.value !== null) return taken.value
    }
    return null
  }

  [Symbol.dispose](): void {
    this.#walk[Symbol.dispose]()
  }

  #take(event: FeedEvent): Result<Uint8Array | null, Failure> {
    switch (event.kind) {
      case "output": {
        if (event.stream !== this.#stream) return ok(null)
        // A copy, because the feed reads the next piece into the same memory.
        return ok(event.bytes.slice(0, event.bytes.length - this.#walk.excessBytes()))
      }
      case "gap":
        return fail(forgotten(event))
      case "resized":
      case "state":
        return ok(null)
      case "ended":
        this.#isOver = true
        return ok(null)
      case "failed":
        return fail(event.failure)
    }
  }
}

function forgotten({ bytes, next }: Extract<FeedEvent, { kind: "gap" }>): Failure {
  const message =
    `From there on ${countText(bytes, "byte")} no longer kept, which raw bytes cannot ` +
    "show: start at `X-CC-Available-From`, or accept text/event-stream."
  return failure("EXPIRED", message, { bytes, available_from: next })
}
