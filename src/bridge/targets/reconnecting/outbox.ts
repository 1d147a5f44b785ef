import type { NotificationMessage } from "../../messages/message.ts"
import type { TargetLimits } from "../../ports.ts"
import { type Problem, problem } from "../../problem.ts"
import type { PendingRequest } from "../pending-requests.ts"

type Waiting = PendingRequest | NotificationMessage

/** What waits for a connection: first requests that are sent again, then the rest in its order. */
export class Outbox {
  readonly #limits: TargetLimits
  #waiting: Waiting[] = []

  constructor(limits: TargetLimits) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** Whether something waits that was never sent. */
  get hasNew(): boolean {
    return this.#waiting.some(isNew)
  }

  /** Why there is no room; null when it was put in. */
  put(added: Waiting): Problem | null {
    const texts = [...this.#waiting.filter(isNew), added].map(textOf)
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    if (texts.length <= this.#limits.messages && length <= this.#limits.bufferedBytes) {
      this.#waiting.push(added)
      return null
    }
    return problem(
      "TOO_MANY",
      `${texts.length - 1} messages are waiting for the connection to the target: that is ` +
        "the limit. Wait for answers before you send more.",
    )
  }

  /** Not bounded here: pending requests have a bound of their own. */
  putAgain(lost: readonly PendingRequest[]): void {
    this.#waiting.unshift(...lost)
  }

  has(pending: PendingRequest): boolean {
    return this.#waiting.includes(pending)
  }

  next(): Waiting | undefined {
    return this.#waiting.shift()
  }

  /** True when the request was here: then the target does not know it. */
  remove(meant: PendingRequest): boolean {
    const before = this.#waiting.length
    this.#waiting = this.#waiting.filter((waiting) => waiting !== meant)
    return this.#waiting.length < before
  }

  clear(): void {
    this.#waiting = []
  }
}

function isNew(waiting: Waiting): boolean {
  return !("request" in waiting) || waiting.sends === 0
}

function textOf(waiting: Waiting): string {
  return "request" in waiting ? waiting.request.text : waiting.text
}
