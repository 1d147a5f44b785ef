import type { Message } from "../../messages/message.ts"
import type { TargetLimits } from "../../ports.ts"
import { type Problem, problem } from "../../problem.ts"
import type { PendingRequest } from "../pending-requests.ts"

/** Messages that wait for a connection: first what is sent again, then the rest in its order. */
export class Outbox {
  readonly #limits: TargetLimits
  readonly #again = new Set<PendingRequest>()
  #messages: Message[] = []
  #length = 0

  constructor(limits: TargetLimits) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#again.size === 0 && !this.hasNew
  }

  /** Whether something waits that was never sent. */
  get hasNew(): boolean {
    return this.#messages.length > 0
  }

  /** Why there is no room; null when the message was put in. */
  put(message: Message): Problem | null {
    const { waitingMessages, waitingBytes } = this.#limits
    const isFull = this.#messages.length >= waitingMessages
    if (isFull || this.#length + message.text.length > waitingBytes) {
      return problem(
        "TOO_MANY",
        `${this.#messages.length} messages are waiting for the connection to the target: that is ` +
          "the limit. Wait for answers before you send more.",
      )
    }
    this.#messages.push(message)
    this.#length += message.text.length
    return null
  }

  /** Not bounded here: pending requests have a bound of their own. */
  putAgain(lost: PendingRequest): void {
    this.#again.add(lost)
  }

  hasAgain(lost: PendingRequest): boolean {
    return this.#again.has(lost)
  }

  next(): Message | undefined {
    const [again] = this.#again
    if (again !== undefined) {
      this.#again.delete(again)
      return again.request
    }
    const first = this.#messages.shift()
    this.#length -= first?.text.length ?? 0
    return first
  }

  /** True when the request was here: then the target does not know it. */
  remove(meant: PendingRequest): boolean {
    const before = this.#messages.length
    this.#messages = this.#messages.filter((message) => message !== meant.request)
    this.#length = this.#messages.reduce((sum, { text }) => sum + text.length, 0)
    return this.#again.delete(meant) || this.#messages.length < before
  }

  clear(): void {
    this.#again.clear()
    this.#messages = []
    this.#length = 0
  }
}
