import { fail, ok, type Result } from "../../lib/result.ts"
import { waitedMeta } from "../../protocol/mcp-meta-keys.ts"
import {
  type AnswerMessage,
  isSubscription,
  type NotificationMessage,
  progressOf,
  progressTokenOf,
  type RequestMessage,
} from "../messages/message.ts"
import { withMeta } from "../messages/with-meta.ts"
import type { Deliver } from "../ports.ts"
import { type Problem, problem, problemAnswer } from "../problem.ts"
import type { SentRequest } from "./known-target.ts"
import type { TargetContext } from "./target-context.ts"

/** A request of the client's that has no answer yet. */
export type PendingRequest = SentRequest & {
  readonly progressToken: string | null
  readonly receivedMs: number
}

/** The requests of one client that have no answer, and how they get one. */
export class PendingRequests {
  readonly #context: TargetContext
  readonly #deliver: Deliver
  readonly #byKey = new Map<string, PendingRequest>()
  #settled = Promise.withResolvers<void>()

  constructor(context: TargetContext, deliver: Deliver) {
    this.#context = context
    this.#deliver = deliver
    this.#settled.resolve()
  }

  get size(): number {
    return this.#byKey.size
  }

  get all(): PendingRequest[] {
    return [...this.#byKey.values()]
  }

  add(message: RequestMessage): Result<PendingRequest, Problem> {
    const { clock, callMeta } = this.#context
    const refused = this.#refusal(message)
    if (refused !== null) return fail(refused)
    const isCall = message.method === "tools/call"
    const request = isCall ? withMeta(message, callMeta()) : message
    const progressToken = progressTokenOf(request)
    const receivedMs = clock.monotonicMs()
    const added = { request, progressToken, receivedMs, sends: 0, hasBegun: false }
    if (!isSubscription(request) && !this.#awaitsAnswer())
      this.#settled = Promise.withResolvers<void>()
    this.#byKey.set(request.key, added)
    return ok(added)
  }

  #refusal({ key, id }: RequestMessage): Problem | null {
    const most = this.#context.limits.messages
    if (this.#byKey.has(key)) {
      return problem(
        "DUPLICATE_ID",
        `A request with the id ${JSON.stringify(id)} is already in progress. ` +
          "The two answers could not be told apart: use a different id.",
      )
    }
    if (this.#byKey.size < most) return null
    return problem(
      "TOO_MANY",
      `${most} requests of this client are unanswered, which is the limit. ` +
        "Wait for some of them before you send more.",
    )
  }

  get(key: string): PendingRequest | undefined {
    return this.#byKey.get(key)
  }

  has(pending: PendingRequest): boolean {
    return this.#byKey.get(pending.request.key) === pending
  }

  /** The request as it is sent now: a call that is sent again says how long its client waits. */
  toSend(pending: PendingRequest): RequestMessage {
    const { request, receivedMs, sends } = pending
    pending.sends += 1
    if (sends === 0 || request.method !== "tools/call") return request
    const waitedMs = Math.round(this.#context.clock.monotonicMs() - receivedMs)
    return withMeta(request, { [waitedMeta]: waitedMs })
  }

  notified(notification: NotificationMessage): void {
    const token = progressOf(notification)
    if (token === null) return
    const meant = this.#byKey.values().find(({ progressToken }) => progressToken === token)
    if (meant !== undefined) meant.hasBegun = true
  }

  /** Delivers an answer, unless the request was canceled meanwhile. */
  async answer(pending: PendingRequest, answer: AnswerMessage): Promise<void> {
    if (this.remove(pending)) await this.#deliver(answer)
  }

  async fail(pending: PendingRequest, why: Problem): Promise<void> {
    const { request } = pending
    if (!this.remove(pending)) return
    const { target, log } = this.#context
    const facts = { target: target.name, method: request.method, reason: why.reason }
    log.warn(facts, "request failed at the bridge")
    await this.#deliver(problemAnswer(request.id, why))
  }

  /** False when it was removed before: its id may be that of another request now. */
  remove(pending: PendingRequest): boolean {
    if (!this.has(pending)) return false
    this.#byKey.delete(pending.request.key)
    if (!this.#awaitsAnswer()) this.#settled.resolve()
    return true
  }

  /** Resolves when no request waits for its answer, apart from subscriptions. */
  settled(): Promise<void> {
    return this.#settled.promise
  }

  #awaitsAnswer(): boolean {
    return this.#byKey.values().some(({ request }) => !isSubscription(request))
  }
}
