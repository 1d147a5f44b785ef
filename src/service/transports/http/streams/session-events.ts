import { z } from "zod"
import { parseJson } from "../../../../lib/parse-json.ts"
import { viewOf } from "../../../../protocol/execution-view.ts"
import { wireError } from "../../../../protocol/failure.ts"
import { completedOf } from "../../../../protocol/notifications.ts"
import type { FeedEvent, OutputFeed } from "../../../gateway/ports.ts"
import type { After } from "../ports.ts"
import { FeedWalk } from "./feed-walk.ts"
import { idAfterEnd } from "./output-events.ts"
import { eventPiece, heartbeat, heartbeatMs, openingPiece, type Pieces } from "./pulled-body.ts"

/** Whatever an agent's session says is an object with a name. */
export const SessionEvent = z.looseObject({
  v: z.int(),
  n: z.int().describe("counts the events of a session: what was seen before has the same number"),
  at: z.iso.datetime(),
  event: z.string(),
})

/** A line that is longer is no event of a session. */
const decoder = new TextDecoder() // pieces of text are whole characters
const mostLineCharacters = 32 * 1024 * 1024

/**
 * What happens in an agent's session as server-sent events; owns the feed. The id is a cursor, and
 * only with those events after which one can go on: after a new connection some may come again.
 */
export class SessionEvents implements Pieces {
  readonly #walk: FeedWalk
  readonly #after: After
  #ready: Uint8Array[] = [openingPiece]
  #line = ""
  #isOver = false

  constructor(feed: OutputFeed, after: After) {
    this.#walk = new FeedWalk(feed, { form: "text", untilSequence: null })
    this.#after = after
  }

  async next(): Promise<Uint8Array | null> {
    using _silence = this.#after(heartbeatMs, () => this.#walk.wake())
    while (true) {
      const ready = this.#ready.shift()
      if (ready !== undefined) return ready
      if (this.#isOver) return null
      const event = await this.#walk.next()
      if (event === null) return null
      if (event === "woken") return heartbeat
      this.#take(event)
    }
  }

  [Symbol.dispose](): void {
    this.#walk[Symbol.dispose]()
  }

  #take(event: FeedEvent): void {
    switch (event.kind) {
      case "output":
        if (event.stream === "stdout") this.#read(decoder.decode(event.bytes), event.next)
        return
      case "gap": {
        const { kind: _, ...notice } = event
        this.#line = ""
        const data = { execution_id: this.#walk.feed.executionId, ...notice }
        this.#ready.push(eventPiece({ event: "gap", id: event.next, data }))
        return
      }
      case "resized":
      case "state":
        return
      case "ended": {
        this.#isOver = true
        const data = completedOf(viewOf(event.record))
        this.#ready.push(eventPiece({ event: "completed", id: idAfterEnd, data }))
        return
      }
      case "failed": {
        this.#isOver = true
        const data = { execution_id: this.#walk.feed.executionId, error: wireError(event.failure) }
        this.#ready.push(eventPiece({ event: "failure", data }))
      }
    }
  }

  #read(text: string, next: string): void {
    const lines = (this.#line + text).split("\n")
    this.#line = lines.pop() ?? ""
    if (this.#line.length > mostLineCharacters) this.#line = ""
    const isAtLineEnd = this.#line === ""
    lines.forEach((line, index) => {
      const read = parseJson(line)
      const said = SessionEvent.safeParse(read.ok ? read.value : null)
      if (!said.success) return
      const id = isAtLineEnd && index === lines.length - 1 ? { id: next } : {}
      this.#ready.push(eventPiece({ event: said.data.event, ...id, data: said.data }))
    })
  }
}
