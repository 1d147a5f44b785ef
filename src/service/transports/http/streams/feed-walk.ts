import { setImmediate } from "node:timers/promises"
import { AutoResetEvent } from "../../../../lib/auto-reset-event.ts"
import type { FeedEvent, OutputFeed, OutputForm } from "../../../gateway/ports.ts"

// A flood on a fast socket never has to wait: without a pause, nobody else would get a turn.
const eventsPerTurn = 16

export type WalkOptions = {
  form: OutputForm
  /** Where it ends, in output bytes of both streams; null goes on until the execution ends. */
  untilSequence: number | null
}

/** One walk through a feed: waits where there is nothing yet, and owns the feed. */
export class FeedWalk implements Disposable {
  readonly feed: OutputFeed
  readonly #options: WalkOptions
  readonly #wakeUp = new AutoResetEvent()
  readonly #owned = new DisposableStack()
  #events = 0
  #isWoken = false

  constructor(feed: OutputFeed, options: WalkOptions) {
    this.feed = this.#owned.use(feed)
    this.#options = options
    this.#owned.use(feed.onAdvance(() => this.#wakeUp.set()))
  }

  /** The next event; null when there will be none, also because the walk was disposed. */
  async next(): Promise<FeedEvent | "woken" | null> {
    while (true) {
      this.#events += 1
      if (this.#events % eventsPerTurn === 0) await setImmediate()
      if (this.#owned.disposed) return null
      if (this.#isWoken) {
        this.#isWoken = false
        return "woken"
      }
      const event = this.take()
      if (event !== null) return event
      if (this.#isAtEnd()) return null
      await this.#wakeUp.wait()
    }
  }

  /** What is there now; null when that is nothing, or lies behind the end. */
  take(): FeedEvent | null {
    const event = this.feed.next(this.#options.form)
    return event === null || this.#isPastEnd(event) ? null : event
  }

  /** Interrupts `next`, or the one after: it answers `woken`. */
  wake(): void {
    this.#isWoken = true
    this.#wakeUp.set()
  }

  /** How many bytes of what was just delivered lie behind the end. */
  excessBytes(): number {
    const { untilSequence } = this.#options
    if (untilSequence === null) return 0
    return Math.max(0, this.feed.position().sequence - untilSequence)
  }

  [Symbol.dispose](): void {
    this.#owned.dispose()
    this.#wakeUp.set()
  }

  /** What is on its way from another node is not there yet, and comes. */
  #isAtEnd(): boolean {
    const { untilSequence } = this.#options
    return untilSequence !== null && this.feed.position().sequence >= untilSequence
  }

  #isPastEnd(event: FeedEvent): boolean {
    const excess = this.excessBytes()
    return event.kind === "output" && excess > 0 && excess >= event.bytes.length
  }
}
