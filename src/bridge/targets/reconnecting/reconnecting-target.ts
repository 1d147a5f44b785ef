import { reconnectDelayMs } from "../../../client/connection/reconnect-policy.ts"
import {
  type AnswerMessage,
  cancellation,
  cancelledKey,
  type Fields,
  type Message,
  type NotificationMessage,
  progressOf,
  type RequestMessage,
  readMessages,
} from "../../messages/message.ts"
import { withMeta } from "../../messages/with-meta.ts"
import type { BridgeTarget, ClientEnd, ResumeState, TargetLimits } from "../../ports.ts"
import { type Problem, problem, problemAnswer, refusedBy } from "../../problem.ts"
import { Handshake, isOwnKey } from "../handshake.ts"
import { asSentNow, type PendingRequest, PendingRequests } from "../pending-requests.ts"
import { whyNotResent } from "../why-not-resent.ts"
import {
  type ConnectProblem,
  type ConnectSettings,
  connectWithRetry,
} from "./connect-with-retry.ts"
import type { Link, LinkEnd } from "./link.ts"
import { Outbox } from "./outbox.ts"
import { Restoration } from "./restoration.ts"

export type ReconnectingTargetSettings = ConnectSettings & {
  limits: TargetLimits
  /** What every `tools/call` brings along, unless the client said it itself. */
  callMeta: () => Fields
}

/**
 * A target whose connection is opened again when it is lost. What has no answer then is sent again
 * on the next one where that is safe, after the client's handshake was repeated there.
 */
export class ReconnectingTarget implements BridgeTarget {
  readonly #settings: ReconnectingTargetSettings
  readonly #client: ClientEnd
  readonly #outbox: Outbox
  readonly #requests: PendingRequests
  readonly #handshake: Handshake
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  /** The connection that messages go to at once. */
  #live: Link | null = null
  /** Requests of the target's on the connection there is. */
  readonly #asked = new Map<string, RequestMessage>()
  readonly #restoration: Restoration
  #wake = Promise.withResolvers<void>()
  #failedConnections = 0
  #hasReceived = false
  /** Whether the client expects to hear from the target also when it asks nothing. */
  #keepsConnection = false

  constructor(settings: ReconnectingTargetSettings, client: ClientEnd, resumeState: ResumeState) {
    this.#settings = settings
    this.#client = client
    this.#outbox = new Outbox(settings.limits)
    const nowMs = () => settings.clock.monotonicMs()
    this.#requests = new PendingRequests(settings.limits.requests, nowMs)
    this.#handshake = new Handshake(resumeState.initialize)
    this.#restoration = new Restoration(this.#handshake, settings.clock)
    this.#running = this.#run()
  }

  get pendingRequests(): number {
    return this.#requests.size
  }

  get isWaiting(): boolean {
    return !this.#outbox.isEmpty
  }

  get resumeState(): ResumeState {
    return { initialize: this.#handshake.params, targetSession: null, version: null }
  }

  settled(): Promise<void> {
    return this.#requests.settled()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#wake.resolve()
    await this.#running
  }

  async send(message: Message): Promise<void> {
    if (this.#closing.signal.aborted) return
    switch (message.kind) {
      case "request":
        return this.#sendRequest(message)
      case "notification":
        return this.#sendNotification(message)
      case "answer":
        // To a question of a connection that is gone there is nobody to answer.
        if (message.key === null || !this.#asked.delete(message.key)) return
        return this.#send(message)
    }
  }

  async #sendRequest(message: RequestMessage): Promise<void> {
    const refused = this.#requests.refusal(message)
    if (refused !== null) return this.#client.deliver(problemAnswer(message.id, refused))
    const isCall = message.method === "tools/call"
    const request = isCall ? withMeta(message, this.#settings.callMeta()) : message
    const added = this.#requests.add(request)
    if (this.#live?.isOpen === true) {
      added.sends += 1
      return this.#live.send(request.text)
    }
    const full = this.#outbox.put(request)
    if (full !== null) return this.#fail(added, full)
    this.#wake.resolve()
  }

  async #sendNotification(message: NotificationMessage): Promise<void> {
    const cancelled = cancelledKey(message)
    const meant = cancelled === null ? undefined : this.#requests.get(cancelled)
    if (meant !== undefined) {
      // Nobody waits for its answer any more, and most targets send none.
      this.#requests.remove(meant)
      if (this.#outbox.takeBack(meant)) return
    }
    const isRepeated = this.#handshake.notified(message)
    // Where it will be said anyway, it must not be said twice.
    if (isRepeated && !this.#restoration.isDone) return
    return this.#send(message)
  }

  /** What finds no connection and no room is lost: it was not a request, and nobody waits. */
  async #send(message: NotificationMessage | AnswerMessage): Promise<void> {
    if (this.#live?.isOpen === true) return this.#live.send(message.text)
    const isQueued = message.kind === "notification" && this.#outbox.put(message) === null
    if (isQueued) this.#wake.resolve()
    else this.#settings.log.debug({}, "message had nowhere to go")
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      if (this.#outbox.isEmpty && !this.#keepsConnection) await this.#wake.promise
      this.#wake = Promise.withResolvers<void>()
      if (signal.aborted || (this.#outbox.isEmpty && !this.#keepsConnection)) continue
      await this.#slowDown()
      this.#hasReceived = false
      const received = (text: string) => this.#received(text)
      const want = { hasNew: () => this.#outbox.hasNew, signal }
      const opened = await connectWithRetry(this.#settings, received, want)
      if (!opened.ok) {
        await this.#failAll(opened.failure)
        continue
      }
      await using link = owned(opened.value)
      const end = await this.#liveOn(link.link)
      this.#restoration.end()
      await this.#lost(end)
    }
  }

  /** A target that accepts connections and drops them is to be approached slowly too. */
  async #slowDown(): Promise<void> {
    const { clock, retry } = this.#settings
    if (this.#failedConnections === 0) return
    const policy = { ...retry, giveUpAfterMs: null }
    const delayMs = reconnectDelayMs(this.#failedConnections, policy, clock.random())
    await clock.sleep(delayMs, this.#closing.signal)
  }

  async #liveOn(link: Link): Promise<LinkEnd> {
    const ending = aborted(this.#closing.signal)
    const restored = this.#restoration.begin(link, this.#closing.signal)
    const opened = await Promise.race([restored, link.ended, ending])
    // A server that reads nothing must not keep us from leaving it.
    const cut = opened ?? (await Promise.race([this.#sendQueued(link), link.ended, ending]))
    if (cut !== null) return cut
    this.#live = link
    const end = await Promise.race([link.ended, ending])
    this.#live = null
    return end
  }

  async #sendQueued(link: Link): Promise<null> {
    while (link.isOpen && !this.#closing.signal.aborted) {
      const next = this.#outbox.next()
      if (next === undefined) break
      const sent = next.kind === "request" ? this.#requests.get(next.key) : undefined
      const now = sent === undefined ? next : asSentNow(sent, this.#settings.clock.monotonicMs())
      if (sent !== undefined) sent.sends += 1
      await link.send(now.text)
    }
    return null
  }

  async #received(text: string): Promise<void> {
    const { target, log } = this.#settings
    for (const read of readMessages(text)) {
      if (!read.ok) {
        log.warn({ target: target.name, why: read.failure.why }, "target sent an invalid message")
        continue
      }
      if (!this.#hasReceived) target.breaker.succeeded()
      this.#hasReceived = true
      this.#failedConnections = 0
      await this.#fromTarget(read.value)
    }
  }

  async #fromTarget(message: Message): Promise<void> {
    switch (message.kind) {
      case "answer":
        return this.#answered(message)
      case "request":
        return this.#askedByTarget(message)
      case "notification": {
        const token = progressOf(message)
        const meant = token === null ? undefined : this.#requests.ofProgress(token)
        if (meant !== undefined) meant.hasBegun = true
        const cancelled = cancelledKey(message)
        if (cancelled !== null) this.#asked.delete(cancelled)
        return this.#client.deliver(message)
      }
    }
  }

  async #askedByTarget(message: RequestMessage): Promise<void> {
    const most = this.#settings.limits.requests
    if (this.#asked.size >= most) {
      const why = `The client has ${most} unanswered requests from this server, which is the limit.`
      return this.#live?.send(problemAnswer(message.id, problem("TOO_MANY", why)).text)
    }
    this.#asked.set(message.key, message)
    return this.#client.deliver(message)
  }

  async #answered(answer: AnswerMessage): Promise<void> {
    const { key } = answer
    if (key === null) return this.#client.deliver(answer)
    if (isOwnKey(key)) return this.#restoration.answered(key, answer)
    const pending = this.#requests.get(key)
    if (pending === undefined) {
      this.#settings.log.debug({}, "answer to an unknown request")
      return
    }
    this.#settings.target.learn(pending.request, answer)
    this.#handshake.answered(pending.request, answer)
    this.#requests.remove(pending)
    await this.#client.deliver(answer)
  }

  async #lost(end: LinkEnd): Promise<void> {
    if (this.#closing.signal.aborted) return
    const { target, log, retry } = this.#settings
    log.warn({ target: target.name, why: end.why }, "connection to target was lost")
    if (!this.#hasReceived) {
      this.#failedConnections += 1
      target.breaker.failed(end.why)
    }
    for (const { id } of this.#asked.values()) {
      await this.#client.deliver(cancellation(id, "the connection to the server was lost"))
    }
    this.#asked.clear()
    if (!end.isTransient) return this.#failAll(() => refusedBy(target.name, end.why))
    for (const pending of this.#requests.all()) {
      if (pending.sends === 0 || this.#outbox.hasAgain(pending)) continue // waits already
      const after = whyNotResent(pending, end, target, retry.tries)
      if (after === null) this.#outbox.putAgain(pending)
      else await this.#fail(pending, after)
    }
    this.#keepsConnection = this.#handshake.isDone
  }

  async #failAll(problemOf: ConnectProblem): Promise<void> {
    this.#outbox.clear()
    this.#keepsConnection = false
    this.#failedConnections = 0
    for (const pending of this.#requests.all()) {
      await this.#fail(pending, problemOf(pending.sends > 0))
    }
  }

  async #fail(pending: PendingRequest, why: Problem): Promise<void> {
    const { request } = pending
    const { target, log } = this.#settings
    const facts = { target: target.name, method: request.method, reason: why.reason }
    log.warn(facts, "request failed at the bridge")
    this.#requests.remove(pending)
    await this.#client.deliver(problemAnswer(request.id, why))
  }
}

function aborted(signal: AbortSignal): Promise<LinkEnd> {
  const { promise, resolve } = Promise.withResolvers<LinkEnd>()
  const end = () => resolve({ why: "the bridge is shutting down", isTransient: false })
  if (signal.aborted) end()
  else signal.addEventListener("abort", end, { once: true })
  return promise
}

function owned(link: Link): AsyncDisposable & { link: Link } {
  return { link, [Symbol.asyncDispose]: () => link.close() }
}
