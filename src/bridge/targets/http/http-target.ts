import { reconnectDelayMs } from "../../../client/connection/reconnect-policy.ts"
import {
  cancelledKey,
  envelopeVersion,
  type Message,
  type NotificationMessage,
  progressOf,
  type RequestMessage,
} from "../../messages/message.ts"
import { withMeta } from "../../messages/with-meta.ts"
import type { BridgeTarget, ClientEnd, ResumeState } from "../../ports.ts"
import { circuitOpen, type Problem, problem, problemAnswer, unreachable } from "../../problem.ts"
import { asSentNow, type PendingRequest, PendingRequests } from "../pending-requests.ts"
import { decideRetry, isFailureOfTarget } from "./decide-retry.ts"
import { type Exchange, type ExchangeEvents, exchange, type Outcome } from "./http-exchange.ts"
import { headersOf } from "./http-headers.ts"
import type { HttpTargetSettings } from "./http-settings.ts"
import { HttpTargetSession } from "./http-target-session.ts"

/** How long a message that is no request may take to be taken. */
const noteMs = 30_000

/** A target over Streamable HTTP: a POST for each message. */
export class HttpTarget implements BridgeTarget {
  readonly #settings: HttpTargetSettings
  readonly #client: ClientEnd
  readonly #requests: PendingRequests
  readonly #session: HttpTargetSession
  readonly #closing = new AbortController()
  readonly #cancels = new Map<string, AbortController>()
  readonly #tasks = new Set<Promise<void>>()
  #notes: Promise<void> = Promise.resolve()
  #heldLength = 0
  /** The revision of the last modern request: what is no request does not say its own. */
  #modernVersion: string | null = null

  constructor(settings: HttpTargetSettings, client: ClientEnd, resumeState: ResumeState) {
    this.#settings = settings
    this.#client = client
    this.#requests = new PendingRequests(settings.limits.requests, () =>
      settings.clock.monotonicMs(),
    )
    this.#session = new HttpTargetSession(settings, resumeState, {
      signal: this.#closing.signal,
      received: (message) => this.#received(message),
    })
    if (resumeState.initialize !== null) this.#session.listen()
  }

  get pendingRequests(): number {
    return this.#requests.size
  }

  get isWaiting(): boolean {
    return this.#requests.all().some(({ sends }) => sends === 0)
  }

  get resumeState(): ResumeState {
    return this.#session.resumeState
  }

  settled(): Promise<void> {
    return this.#requests.settled()
  }

  async close(how: "ended" | "suspended"): Promise<void> {
    if (this.#closing.signal.aborted) return
    if (how === "ended") await this.#session.end()
    this.#closing.abort()
    await Promise.all([...this.#tasks, this.#notes, this.#session.closed])
  }

  async send(message: Message): Promise<void> {
    if (this.#closing.signal.aborted) return
    switch (message.kind) {
      case "request":
        return this.#takeRequest(message)
      case "notification":
        return this.#takeNotification(message)
      case "answer":
        return this.#inTurn(message)
    }
  }

  async #takeRequest(message: RequestMessage): Promise<void> {
    const isTooMuch =
      this.#heldLength > 0 &&
      this.#heldLength + message.text.length > this.#settings.limits.waitingBytes
    const refused = isTooMuch
      ? problem(
          "TOO_MANY",
          "Too many requests are waiting for answers. Wait for some before you send more.",
        )
      : this.#requests.refusal(message)
    if (refused !== null) return this.#client.deliver(problemAnswer(message.id, refused))
    const isCall = message.method === "tools/call"
    const request = isCall ? withMeta(message, this.#settings.callMeta()) : message
    const pending = this.#requests.add(request)
    this.#modernVersion = envelopeVersion(request) ?? this.#modernVersion
    const cancel = new AbortController()
    this.#cancels.set(request.key, cancel)
    this.#heldLength += request.text.length
    const signal = AbortSignal.any([cancel.signal, this.#closing.signal])
    const task = this.#carry(pending, signal).finally(() => {
      this.#tasks.delete(task)
      this.#heldLength -= request.text.length
      if (this.#cancels.get(request.key) === cancel) this.#cancels.delete(request.key)
    })
    this.#tasks.add(task)
    await this.#notes // a request does not overtake what was said before it
  }

  async #takeNotification(message: NotificationMessage): Promise<void> {
    const key = cancelledKey(message)
    const meant = key === null ? undefined : this.#requests.get(key)
    if (key === null || meant === undefined) return this.#inTurn(message)
    const cancel = this.#cancels.get(key)
    this.#requests.remove(meant)
    const wasSent = meant.sends > 0
    // In the modern era the end of its stream is the cancellation.
    if (wasSent && envelopeVersion(meant.request) === null) await this.#inTurn(message)
    cancel?.abort()
  }

  #inTurn(message: Message): Promise<void> {
    const isOpening = message.kind === "notification" && this.#session.handshake.notified(message)
    this.#notes = this.#notes.then(() => this.#note(message, isOpening))
    return this.#notes
  }

  async #note(message: Message, isOpening: boolean): Promise<void> {
    const signal = AbortSignal.any([AbortSignal.timeout(noteMs), this.#closing.signal])
    const outcome = await this.#tried(message, signal)
    if (outcome.kind !== "accepted" && outcome.kind !== "answered") {
      const { target, log } = this.#settings
      log.warn({ target: target.name, outcome: outcome.kind }, "target did not accept a message")
    }
    if (isOpening) this.#session.listen()
  }

  /** With retries; for what nobody waits for an answer to. */
  async #tried(message: Message, signal: AbortSignal): Promise<Outcome> {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#post(message, signal, async (came) => {
        await this.#received(came)
        return false
      })
      const isTransient = outcome.kind === "unsent" || outcome.kind === "busy"
      if (!isTransient || attempt >= this.#settings.retry.tries || signal.aborted) return outcome
      await this.#settings.clock.sleep(this.#delayMs(attempt), signal)
    }
  }

  async #carry(pending: PendingRequest, signal: AbortSignal): Promise<void> {
    const { target, clock, retry } = this.#settings
    await this.#notes
    const startedMs = clock.monotonicMs()
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const gate = target.breaker.go()
      if (!gate.ok) {
        const now = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() }
        return this.#fail(pending, circuitOpen(target.name, gate.failure, now))
      }
      const { id } = this.#session.current
      const outcome = await this.#sendOnce(pending, signal)
      if (signal.aborted) return
      this.#tell(pending, outcome, attempt)
      const verdict = decideRetry(pending, outcome, target, retry.tries)
      if (verdict.kind === "done") return
      if (verdict.kind === "fail") return this.#fail(pending, verdict.why)
      if (verdict.kind === "unknown-session") {
        const isReplaced = attempt < retry.tries && (await this.#session.isReplaced(id))
        if (!isReplaced) return this.#fail(pending, verdict.otherwise)
        this.#session.listen()
        continue
      }
      const delayMs = Math.max(verdict.atLeastMs, this.#delayMs(attempt))
      const isLate = clock.monotonicMs() - startedMs + delayMs > retry.forMs
      if (isLate || attempt >= retry.tries) {
        return this.#fail(pending, this.#gaveUp(pending, outcome))
      }
      await clock.sleep(delayMs, signal)
    }
  }

  #tell({ request }: PendingRequest, outcome: Outcome, attempt: number): void {
    const { target, log } = this.#settings
    if (!isFailureOfTarget(outcome)) return target.breaker.succeeded()
    target.breaker.failed(outcome.why)
    const facts = { target: target.name, method: request.method, why: outcome.why, attempt }
    log.warn(facts, "request to target failed")
  }

  async #sendOnce(pending: PendingRequest, signal: AbortSignal): Promise<Outcome> {
    const request = asSentNow(pending, this.#settings.clock.monotonicMs())
    pending.sends += 1
    const outcome = await this.#post(request, signal, (message) => this.#isAnswer(pending, message))
    if (outcome.kind === "unsent") pending.sends -= 1
    if (outcome.kind !== "broken" || envelopeVersion(request) !== null) return outcome
    return this.#session.resumed(outcome, signal, (message) => this.#isAnswer(pending, message))
  }

  async #isAnswer(pending: PendingRequest, message: Message): Promise<boolean> {
    const isIt = message.kind === "answer" && message.key === pending.request.key
    if (!isIt) {
      await this.#received(message)
      return false
    }
    this.#settings.target.learn(pending.request, message)
    this.#session.answered(pending.request, message)
    // Taken back meanwhile, or another one has the id now: nobody waits for it.
    if (this.#requests.get(pending.request.key) !== pending) return true
    this.#requests.remove(pending)
    await this.#client.deliver(message)
    return true
  }

  #gaveUp({ sends }: PendingRequest, outcome: Outcome): Problem {
    const why = "why" in outcome ? outcome.why : outcome.kind
    return unreachable(this.#settings.target.name, why, sends > 0 && outcome.kind !== "busy")
  }

  #delayMs(attempt: number): number {
    const { retry, clock } = this.#settings
    return reconnectDelayMs(attempt, { ...retry, giveUpAfterMs: null }, clock.random())
  }

  async #received(message: Message): Promise<void> {
    if (message.kind === "answer") return // of somebody else, or too late
    if (message.kind === "notification") {
      const token = progressOf(message)
      const meant = token === null ? undefined : this.#requests.ofProgress(token)
      if (meant !== undefined) meant.hasBegun = true
    }
    await this.#client.deliver(message)
  }

  #post(
    message: Message,
    signal: AbortSignal,
    received: ExchangeEvents["message"],
  ): Promise<Outcome> {
    const { target, http, limits, log } = this.#settings
    const mayRepeat = message.kind !== "request" || target.mayBeRepeated(message)
    const session = this.#session.handshake.isDone
      ? this.#session.current
      : { id: null, version: this.#modernVersion }
    const sent: Exchange = {
      url: http.url,
      method: "POST",
      headers: { ...headersOf(message, session, target), ...http.authorization() },
      body: message.text,
      tls: http.tls,
      signal,
      isFresh: !mayRepeat,
      messageBytes: limits.messageBytes,
    }
    return exchange(sent, {
      headers: (headers) => this.#session.heard(message, headers),
      message: received,
      junk: (why) => log.warn({ target: target.name, why }, "target sent an invalid message"),
    })
  }

  async #fail(pending: PendingRequest, why: Problem): Promise<void> {
    const { request } = pending
    if (this.#requests.get(request.key) !== pending) return
    const { target, log } = this.#settings
    const facts = { target: target.name, method: request.method, reason: why.reason }
    log.warn(facts, "request failed at the bridge")
    this.#requests.remove(pending)
    await this.#client.deliver(problemAnswer(request.id, why))
  }
}
