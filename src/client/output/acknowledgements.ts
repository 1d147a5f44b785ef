import { delay } from "../../lib/delay.ts"
import { isTransient, retryDelayMs } from "../calls/repeat.ts"
import type { Session } from "../connection/session.ts"

export type AcknowledgementOptions = {
  executionId: string
  session: Session
  /** Taken since the last one, that makes one due. */
  afterBytes: number
}

/**
 * Says on one session what was taken, so that the child may go on. What could not be said before
 * the session ended need not be: the next one is attached to behind it.
 */
export class Acknowledgements {
  readonly #options: AcknowledgementOptions
  readonly #over: AbortSignal
  #next = ""
  #unsaidBytes = 0
  #isDue = false
  #isTelling = false

  constructor(options: AcknowledgementOptions, over: AbortSignal) {
    this.#options = options
    this.#over = over
  }

  /**
   * All before `next`; `bytes` is what came with the event, none if that was no output. When it was
   * the last that is here, a child that waits may be waiting for just this.
   */
  taken(next: string, bytes: number, isLast: boolean): void {
    this.#next = next
    this.#unsaidBytes += bytes
    const isEnough = isLast || this.#unsaidBytes >= this.#options.afterBytes
    this.#isDue ||= this.#unsaidBytes > 0 && isEnough
    if (this.#isDue && !this.#isTelling) void this.#tell()
  }

  async #tell(): Promise<void> {
    const { executionId: execution_id, session } = this.#options
    this.#isTelling = true
    while (this.#isDue && !this.#over.aborted) {
      this.#isDue = false
      this.#unsaidBytes = 0
      const answer = await session.ask("ack", { execution_id, next: this.#next })
      const refused = !answer.ok && answer.failure.kind === "refused" ? answer.failure : null
      // Any other refusal says that the server waits for nothing here: detached, or at its end.
      if (refused === null || !isTransient(refused.failure)) continue
      await delay(retryDelayMs(refused.failure), this.#over)
      this.#isDue = true
    }
    this.#isTelling = false
  }
}
