import type { ExecutionRecord } from "../../../../execution/record.ts"
import { AutoResetEvent } from "../../../../lib/auto-reset-event.ts"
import { viewOf } from "../../../../protocol/execution-view.ts"
import type { After } from "../ports.ts"
import { eventPiece, heartbeat, heartbeatMs, openingPiece, type Pieces } from "./pulled-body.ts"

/** Who is further behind is disconnected: it lists, watches again, and has missed nothing. */
const mostWaiting = 1000

/** Changes of state as server-sent events. */
export class ChangeEvents implements Pieces {
  readonly #waiting: ExecutionRecord[] = []
  readonly #wakeUp = new AutoResetEvent()
  readonly #after: After
  readonly #isStillGood: () => boolean
  #watching: Disposable | null = null
  #isOpened = false
  #isBehind = false
  #isDisposed = false

  constructor(after: After, isStillGood: () => boolean) {
    this.#after = after
    this.#isStillGood = isStillGood
  }

  /** What tells it of changes, and ends with it. */
  owns(watching: Disposable): void {
    this.#watching = watching
  }

  async next(): Promise<Uint8Array | null> {
    if (!this.#isOpened) {
      this.#isOpened = true
      return openingPiece
    }
    let isSilent = false
    using _silence = this.#after(heartbeatMs, () => {
      isSilent = true
      this.#wakeUp.set()
    })
    while (!this.#isDisposed) {
      if (this.#isBehind) throw new Error(`the reader is ${mostWaiting} changes behind`)
      const record = this.#waiting.shift()
      if (record !== undefined) return eventPiece({ event: "state", data: viewOf(record) })
      if (isSilent) return this.#isStillGood() ? heartbeat : null
      await this.#wakeUp.wait()
    }
    return null
  }

  [Symbol.dispose](): void {
    if (this.#isDisposed) return
    this.#isDisposed = true
    this.#waiting.length = 0
    this.#watching?.[Symbol.dispose]()
    this.#wakeUp.set()
  }

  changed(record: ExecutionRecord): void {
    if (this.#isDisposed || this.#isBehind) return
    this.#isBehind = this.#waiting.length >= mostWaiting
    if (this.#isBehind) this.#waiting.length = 0
    else this.#waiting.push(record)
    this.#wakeUp.set()
  }
}
