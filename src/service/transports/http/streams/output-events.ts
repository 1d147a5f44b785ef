import type { ExecutionRecord } from "../../../../execution/record.ts"
import { viewOf } from "../../../../protocol/execution-view.ts"
import { type Failure, wireError } from "../../../../protocol/failure.ts"
import { completedOf } from "../../../../protocol/notifications.ts"
import { outputChunk } from "../../../../protocol/output-chunk.ts"
import type { FeedEvent, OutputFeed } from "../../../gateway/ports.ts"
import type { After } from "../ports.ts"
import { FeedWalk, type WalkOptions } from "./feed-walk.ts"
import { eventPiece, heartbeat, heartbeatMs, openingPiece, type Pieces } from "./pulled-body.ts"

/**
 * The id of `completed`. Browsers reconnect when a stream ends and say the last id they saw: with
 * this one they are told that there is nothing more, and stop.
 */
export const idAfterEnd = "ended"

export type OutputEventOptions = {
  encoding: "utf8" | "base64"
  /** Null is both. */
  stream: "stdout" | "stderr" | null
  untilSequence: number | null
}

/** An execution's output as server-sent events; owns the feed. */
export class OutputEvents implements Pieces {
  readonly #walk: FeedWalk
  readonly #options: OutputEventOptions
  readonly #after: After
  readonly #opening: Uint8Array[]
  #isOver = false

  constructor(feed: OutputFeed, options: OutputEventOptions, after: After) {
    const form: WalkOptions["form"] = options.encoding === "utf8" ? "text" : "bytes"
    this.#walk = new FeedWalk(feed, { form, untilSequence: options.untilSequence })
    this.#options = options
    this.#after = after
    // A page cannot read the headers of its EventSource, so the state is said here too.
    this.#opening = [openingPiece, this.#state(feed.record(), feed.from)]
  }

  async next(): Promise<Uint8Array | null> {
    const opening = this.#opening.shift()
    if (opening !== undefined) return opening
    using _silence = this.#after(heartbeatMs, () => this.#walk.wake())
    while (!this.#isOver) {
      const event = await this.#walk.next()
      if (event === null) return null
      if (event === "woken") return heartbeat
      const piece = this.#pieceOf(event)
      if (piece !== null) return piece
    }
    return null
  }

  [Symbol.dispose](): void {
    this.#walk[Symbol.dispose]()
  }

  #pieceOf(event: FeedEvent): Uint8Array | null {
    switch (event.kind) {
      case "output":
        return this.#output(event)
      case "gap": {
        const { kind: _, ...notice } = event
        const data = { execution_id: this.#walk.feed.executionId, ...notice }
        return eventPiece({ event: "gap", id: event.next, data })
      }
      case "resized":
        return null
      case "state":
        return this.#state(event.record, this.#walk.feed.cursor())
      case "ended": {
        this.#isOver = true
        const data = completedOf(viewOf(event.record))
        return eventPiece({ event: "completed", id: idAfterEnd, data })
      }
      case "failed":
        this.#isOver = true
        return this.#failure(event.failure)
    }
  }

  #output(event: Extract<FeedEvent, { kind: "output" }>): Uint8Array | null {
    const { encoding, stream } = this.#options
    if (stream !== null && event.stream !== stream) return null
    const { executionId: execution_id } = this.#walk.feed
    const data = { execution_id, ...outputChunk(event, encoding) }
    return eventPiece({ event: "output", id: event.next, data })
  }

  #state(record: ExecutionRecord, id: string): Uint8Array {
    return eventPiece({ event: "state", id, data: viewOf(record) })
  }

  // Not named `error`: that is what an EventSource calls the loss of its connection.
  #failure(refused: Failure): Uint8Array {
    const data = { execution_id: this.#walk.feed.executionId, error: wireError(refused) }
    return eventPiece({ event: "failure", data })
  }
}
