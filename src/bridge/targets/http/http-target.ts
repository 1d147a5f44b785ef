import { reconnectDelayMs } from "../../../client/connection/reconnect-policy.ts"
import {
  canceledKey,
  envelopeVersion,
  type Message,
  type NotificationMessage,
  type RequestMessage,
} from "../../messages/message.ts"
import type { BridgeTarget, Deliver, ResumeState } from "../../ports.ts"
import { circuitOpen, type Problem, problem, problemAnswer, unreachable } from "../../problem.ts"
import { type PendingRequest, PendingRequests } from "../pending-requests.ts"
import { decideRetry } from "./decide-retry.ts"
import { type Exchange, exchange, type HttpContext, type Outcome } from "./http-exchange.ts"
import { headersOf } from "./http-headers.ts"
import { HttpTargetSession } from "./http-target-session.ts"

/** How long the target may take to accept a message that is no request. */
const oneWayMs = 30_000

/** A target over Streamable HTTP: a POST for each message. */
export class HttpTarget implements BridgeTarget {
  readonly requests: PendingRequests
  readonly #context: HttpContext
  readonly #deliver: Deliver
  readonly #session: HttpTargetSession
  readonly #closing = new AbortController()
  readonly #cancels = new WeakMap<PendingRequest, AbortController>()
  readonly #tasks = new Set<Promise<void>>()
  /** Messages that are no requests are sent one after the other; this is the last of them. */
  #oneWay: Promise<void> = Promise.resolve()
  #heldLength = 0
  /** The revision of the last modern request: other messages do not name theirs. */
  #modernVersion: string | null = null

  constructor(context: HttpContext, deliver: Deliver, resumeState: ResumeState) {
    this.#context = context
    this.#deliver = deliver
    this.requests = new PendingRequests(context, deliver)
    this.#session = new HttpTargetSession(context, resumeState, {
      signal: this.#closing.signal,
      received: (message) => this.#received(message),
    })
    if (resumeState.initialize !== null) this.#session.listen()
  }

  get isWaiting(): boolean {
    return this.requests.all.some(({ sends }) => sends === 0)
  }

  get resumeState(): ResumeState {
    return this.#session.resumeState
  }

  async close(how: "ended" | "suspended"): Promise<void> {
    if (this.#closing.signal.aborted) return
    if (how === "ended") await this.#session.end()
    this.#closing.abort()
    await Promise.all([...this.#tasks, this.#oneWay, this.#session.closed])
  }

  async send(message: Message): Promise<void> {
    if (this.#closing.signal.aborted) return
    switch (message.kind) {
      case "request":
        return this.#sendRequest(message)
      case "notification":
        return this.#sendNotification(message)
      case "answer":
        return this.#sendOneWay(message)
    }
  }

  async #sendRequest(message: RequestMessage): Promise<void> {
    const { bufferedBytes } = this.#context.limits
    if (this.#heldLength > 0 && this.#heldLength + message.text.length > bufferedBytes) {
      const why = "Too many requests are waiting for answers. Wait for some before you send more."
      return this.#deliver(problemAnswer(message.id, problem("TOO_MANY", why)))
    }
    const added = this.requests.add(message)
    if (!added.ok) return this.#deliver(problemAnswer(message.id, added.failure))
    const { request } = added.value
    this.#modernVersion = envelopeVersion(request) ?? this.#modernVersion
    const cancel = new AbortController()
    this.#cancels.set(added.value, cancel)
    this.#heldLength += request.text.length
    const signal = AbortSignal.any([cancel.signal, this.#closing.signal])
    const task = this.#sendUntilAnswered(added.value, signal).finally(() => {
      this.#tasks.delete(task)
      this.#heldLength -= request.text.length
    })
    this.#tasks.add(task)
    await this.#oneWay // a request does not overtake what was sent before it
  }

  async #sendNotification(message: NotificationMessage): Promise<void> {
    const key = canceledKey(message)
    const meant = key === null ? undefined : this.requests.get(key)
    if (meant === undefined) return this.#sendOneWay(message)
    this.requests.remove(meant)
    // In the modern era the end of its stream is the cancellation.
    const isTold = meant.sends > 0 && envelopeVersion(meant.request) === null
    if (isTold) await this.#sendOneWay(message)
    this.#cancels.get(meant)?.abort()
  }

  /** For messages without an answer, in their order. */
  #sendOneWay(message: Message): Promise<void> {
    const isOpening = message.kind === "notification" && this.#session.handshake.notified(message)
    this.#oneWay = this.#oneWay.then(() => this.#postOneWay(message, isOpening))
    return this.#oneWay
  }

  async #postOneWay(message: Message, isOpening: boolean): Promise<void> {
    const { retry, clock, target, log } = this.#context
    const signal = AbortSignal.any([AbortSignal.timeout(oneWayMs), this.#closing.signal])
    for (let attempt = 1; ; attempt += 1) {
      const { kind } = await this.#post(message, signal, async (received) => {
        await this.#received(received)
        return false
      })
      const isTransient = kind === "unsent" || kind === "busy"
      if (isTransient && attempt < retry.tries && !signal.aborted) {
        await clock.sleep(reconnectDelayMs(attempt, retry, clock.random()), signal)
        continue
      }
      if (kind !== "accepted" && kind !== "answered") {
        log.warn({ target: target.name, outcome: kind }, "target did not accept a message")
      }
      if (isOpening) this.#session.listen()
      return
    }
  }

  async #sendUntilAnswered(pending: PendingRequest, signal: AbortSignal): Promise<void> {
    const { target, clock, retry } = this.#context
    await this.#oneWay
    const startedMs = clock.monotonicMs()
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const gate = target.breaker.go()
      if (!gate.ok) {
        return this.requests.fail(pending, circuitOpen(target.name, gate.failure, clock))
      }
      const { id } = this.#session.current
      const outcome = await this.#sendOnce(pending, signal)
      if (signal.aborted) return
      this.#report(pending, outcome, attempt)
      const decision = decideRetry(pending, outcome, target, retry.tries)
      if (decision.kind === "done") return
      if (decision.kind === "fail") return this.requests.fail(pending, decision.why)
      if (decision.kind === "unknown-session") {
        const isReplaced = attempt < retry.tries && (await this.#session.isReplaced(id))
        if (!isReplaced) return this.requests.fail(pending, decision.otherwise)
        this.#session.listen()
        continue
      }
      const delayMs = Math.max(decision.atLeastMs, reconnectDelayMs(attempt, retry, clock.random()))
      const isLate = clock.monotonicMs() - startedMs + delayMs > retry.forMs
      if (isLate || attempt >= retry.tries) {
        return this.requests.fail(pending, this.#gaveUp(pending, outcome))
      }
      await clock.sleep(delayMs, signal)
    }
  }

  /** Tells the circuit, and the log, how the target has done. */
  #report({ request }: PendingRequest, outcome: Outcome, attempt: number): void {
    const { target, log } = this.#context
    switch (outcome.kind) {
      case "unsent":
      case "busy":
      case "cut":
      case "broken": {
        target.breaker.failed(outcome.why)
        const facts = { target: target.name, method: request.method, why: outcome.why, attempt }
        return log.warn(facts, "request to target failed")
      }
      case "answered":
      case "accepted":
      case "refused":
      case "unreadable":
        return target.breaker.succeeded()
    }
  }

  async #sendOnce(pending: PendingRequest, signal: AbortSignal): Promise<Outcome> {
    const request = this.requests.toSend(pending)
    const onMessage = (message: Message) => this.#isAnswer(pending, message)
    const outcome = await this.#post(request, signal, onMessage)
    if (outcome.kind === "unsent") pending.sends -= 1
    if (outcome.kind !== "broken" || envelopeVersion(request) !== null) return outcome
    return this.#session.resumed(outcome, signal, onMessage)
  }

  async #isAnswer(pending: PendingRequest, message: Message): Promise<boolean> {
    if (message.kind !== "answer" || message.key !== pending.request.key) {
      await this.#received(message)
      return false
    }
    this.#context.target.learn(pending.request, message)
    this.#session.answered(pending.request, message)
    await this.requests.answer(pending, message)
    return true
  }

  #gaveUp({ sends }: PendingRequest, outcome: Outcome): Problem {
    const why = "why" in outcome ? outcome.why : outcome.kind
    return unreachable(this.#context.target.name, why, sends > 0 && outcome.kind !== "busy")
  }

  async #received(message: Message): Promise<void> {
    if (message.kind === "answer") return // to no request of ours, or too late
    if (message.kind === "notification") this.requests.notified(message)
    await this.#deliver(message)
  }

  #post(message: Message, signal: AbortSignal, onMessage: Exchange["onMessage"]): Promise<Outcome> {
    const { target } = this.#context
    const session = this.#session.handshake.isDone
      ? this.#session.current
      : { id: null, version: this.#modernVersion }
    const isOpening = message.kind === "request" && message.method === "initialize"
    return exchange(this.#context, {
      method: "POST",
      headers: headersOf(message, session, target),
      body: message.text,
      signal,
      isFresh: message.kind === "request" && !target.mayBeRepeated(message),
      onHeaders: (headers) => {
        if (isOpening) this.#session.opened(headers)
      },
      onMessage,
    })
  }
}
