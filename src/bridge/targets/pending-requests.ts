import { waitedMeta } from "../../protocol/mcp-meta-keys.ts"
import { progressTokenOf, type RequestMessage } from "../messages/message.ts"
import { withMeta } from "../messages/with-meta.ts"
import { type Problem, problem } from "../problem.ts"

/** A request of the client's that has no answer yet. */
export type PendingRequest = {
  readonly request: RequestMessage
  readonly progressToken: string | null
  readonly receivedMs: number
  /** How often it was sent. */
  sends: number
  /** Whether something of the answer has come: progress. */
  hasBegun: boolean
}

/** A call as it is sent now: one that was sent before says how long its client waits already. */
export function asSentNow(
  { request, receivedMs, sends }: PendingRequest,
  nowMs: number,
): RequestMessage {
  if (sends === 0 || request.method !== "tools/call") return request
  return withMeta(request, { [waitedMeta]: Math.round(nowMs - receivedMs) })
}

/** The requests of one client that have no answer. */
export class PendingRequests {
  readonly #most: number
  readonly #byKey = new Map<string, PendingRequest>()
  #settled = Promise.withResolvers<void>()

  readonly #nowMs: () => number

  constructor(most: number, nowMs: () => number) {
    this.#most = most
    this.#nowMs = nowMs
    this.#settled.resolve()
  }

  get size(): number {
    return this.#byKey.size
  }

  /** Why a request cannot be taken; null when it can. */
  refusal({ key, id }: RequestMessage): Problem | null {
    if (this.#byKey.has(key)) {
      return problem(
        "DUPLICATE_ID",
        `A request with the id ${JSON.stringify(id)} is already in progress. ` +
          "The two answers could not be told apart: use a different id.",
      )
    }
    if (this.#byKey.size < this.#most) return null
    return problem(
      "TOO_MANY",
      `${this.#most} requests of this client are unanswered, which is the limit. ` +
        "Wait for some of them before you send more.",
    )
  }

  add(request: RequestMessage): PendingRequest {
    const progressToken = progressTokenOf(request)
    const added = { request, progressToken, receivedMs: this.#nowMs(), sends: 0, hasBegun: false }
    if (!this.#hasAwaited()) this.#settled = Promise.withResolvers<void>()
    this.#byKey.set(request.key, added)
    if (!this.#hasAwaited()) this.#settled.resolve()
    return added
  }

  get(key: string): PendingRequest | undefined {
    return this.#byKey.get(key)
  }

  ofProgress(token: string): PendingRequest | undefined {
    return this.#byKey.values().find(({ progressToken }) => progressToken === token)
  }

  remove({ request }: PendingRequest): void {
    this.#byKey.delete(request.key)
    if (!this.#hasAwaited()) this.#settled.resolve()
  }

  all(): PendingRequest[] {
    return [...this.#byKey.values()]
  }

  /** When none is left that will be answered: a subscription never is. */
  settled(): Promise<void> {
    return this.#settled.promise
  }

  #hasAwaited(): boolean {
    return this.#byKey.values().some(({ request }) => !isStream(request))
  }
}

/** A subscription lasts until it is cancelled: it can always be sent again. */
export function isStream({ method }: RequestMessage): boolean {
  return method === "subscriptions/listen"
}
