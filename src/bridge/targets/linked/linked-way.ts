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
import { stamped } from "../../messages/stamp.ts"
import type { ClientEnd, Way, WayLimits, WayMemory } from "../../ports.ts"
import { type Problem, problem, problemAnswer, refusedBy } from "../../problem.ts"
import { afterLoss } from "../after-loss.ts"
import { Handshake, isOwnKey } from "../handshake.ts"
import { asSentNow, Requests, type UnderWay } from "../requests.ts"
import type { Link, LinkEnd } from "./link.ts"
import { Outbox } from "./outbox.ts"
import { type Reaching, reachTarget, type Unreached } from "./reach-target.ts"
import { Restoration } from "./restoration.ts"

export type LinkedWaySettings = Reaching & {
  limits: WayLimits
  /** What every `tools/call` brings along, unless the client said it itself. */
  callMeta: () => Fields
}

/**
 * A client's way over connections that come and go. What has no answer when one is lost is sent
 * again on the next where that is right, after the client's handshake was repeated there.
 */
export class LinkedWay implements Way {
  readonly #settings: LinkedWaySettings
  readonly #client: ClientEnd
  readonly #outbox: Outbox
  readonly #requests: Requests
  readonly #handshake: Handshake
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  /** The connection that messages go to at once. */
  #live: Link | null = null
  /** Requests of the target's on the connection there is. */
  readonly #asked = new Map<string, RequestMessage>()
  readonly #restoration: Restoration
  #wake = Promise.withResolvers<void>()
  #fruitless = 0
  #hasHeard = false
  /** Whether the client expects to hear from the target also when it asks nothing. */
  #isKept = false

  constructor(settings: LinkedWaySettings, client: ClientEnd, memory: WayMemory) {
    this.#settings = settings
    this.#client = client
    this.#outbox = new Outbox(settings.limits)
    const nowMs = () => settings.clock.monotonicMs()
    this.#requests = new Requests(settings.limits.requests, nowMs)
    this.#handshake = new Handshake(memory.initialize)
    this.#restoration = new Restoration(this.#handshake, settings.clock)
    this.#running = this.#run()
  }

  get underWay(): number {
    return this.#requests.size
  }

  get isWaiting(): boolean {
    return !this.#outbox.isEmpty
  }

  get memory(): WayMemory {
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

  async take(message: Message): Promise<void> {
    if (this.#closing.signal.aborted) return
    switch (message.kind) {
      case "request":
        return this.#takeRequest(message)
      case "notification":
        return this.#takeNotification(message)
      case "answer":
        // To a question of a connection that is gone there is nobody to answer.
        if (message.key === null || !this.#asked.delete(message.key)) return
        return this.#send(message)
    }
  }

  async #takeRequest(message: RequestMessage): Promise<void> {
    const refused = this.#requests.refusal(message)
    if (refused !== null) return this.#client.deliver(problemAnswer(message.id, refused))
    const isCall = message.method === "tools/call"
    const request = isCall ? stamped(message, this.#settings.callMeta()) : message
    const added = this.#requests.add(request)
    if (this.#live?.isOpen === true) {
      added.sends += 1
      return this.#live.send(request.text)
    }
    const full = this.#outbox.put(request)
    if (full !== null) return this.#fail(added, full)
    this.#wake.resolve()
  }

  async #takeNotification(message: NotificationMessage): Promise<void> {
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
    const isNews = message.kind === "notification" && this.#outbox.put(message) === null
    if (isNews) this.#wake.resolve()
    else this.#settings.log.debug({}, "message had nowhere to go")
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      if (this.#outbox.isEmpty && !this.#isKept) await this.#wake.promise
      this.#wake = Promise.withResolvers<void>()
      if (signal.aborted || (this.#outbox.isEmpty && !this.#isKept)) continue
      await this.#slowDown()
      this.#hasHeard = false
      const received = (text: string) => this.#received(text)
      const want = { hasNew: () => this.#outbox.hasNew, signal }
      const opened = await reachTarget(this.#settings, received, want)
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
    if (this.#fruitless === 0) return
    const policy = { ...retry, giveUpAfterMs: null }
    const delayMs = reconnectDelayMs(this.#fruitless, policy, clock.random())
    await clock.sleep(delayMs, this.#closing.signal)
  }

  async #liveOn(link: Link): Promise<LinkEnd> {
    const ending = aborted(this.#closing.signal)
    const restored = this.#restoration.begin(link, this.#closing.signal)
    const opened = await Promise.race([restored, link.ended, ending])
    if (opened !== null) return opened
    while (link.isOpen) {
      const next = this.#outbox.next()
      if (next === undefined) break
      const sent = next.kind === "request" ? this.#requests.get(next.key) : undefined
      const now = sent === undefined ? next : asSentNow(sent, this.#settings.clock.monotonicMs())
      if (sent !== undefined) sent.sends += 1
      await link.send(now.text)
    }
    this.#live = link
    const end = await Promise.race([link.ended, ending])
    this.#live = null
    return end
  }

  async #received(text: string): Promise<void> {
    const { target, log } = this.#settings
    for (const read of readMessages(text)) {
      if (!read.ok) {
        log.warn({ target: target.name, why: read.failure.why }, "target sent no message")
        continue
      }
      if (!this.#hasHeard) target.breaker.succeeded()
      this.#hasHeard = true
      this.#fruitless = 0
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
      const why = `The client has ${most} requests of this server to answer, and more are not kept.`
      return this.#live?.send(problemAnswer(message.id, problem("TOO_MANY", why)).text)
    }
    this.#asked.set(message.key, message)
    return this.#client.deliver(message)
  }

  async #answered(answer: AnswerMessage): Promise<void> {
    const { key } = answer
    if (key === null) return this.#client.deliver(answer)
    if (isOwnKey(key)) return this.#restoration.answered(key, answer)
    const underWay = this.#requests.get(key)
    if (underWay === undefined) {
      this.#settings.log.debug({}, "answer to a request that nobody waits for")
      return
    }
    this.#settings.target.learn(underWay.request, answer)
    this.#handshake.answered(underWay.request, answer)
    this.#requests.remove(underWay)
    await this.#client.deliver(answer)
  }

  async #lost(end: LinkEnd): Promise<void> {
    if (this.#closing.signal.aborted) return
    const { target, log, retry } = this.#settings
    log.warn({ target: target.name, why: end.why }, "connection to target was lost")
    if (!this.#hasHeard) {
      this.#fruitless += 1
      target.breaker.failed(end.why)
    }
    for (const { id } of this.#asked.values()) {
      await this.#client.deliver(cancellation(id, "the connection to the server was lost"))
    }
    this.#asked.clear()
    if (!end.isTransient) return this.#failAll(() => refusedBy(target.name, end.why))
    for (const underWay of this.#requests.all()) {
      if (underWay.sends === 0 || this.#outbox.hasAgain(underWay)) continue // waits already
      const after = afterLoss(underWay, end, target, retry.tries)
      if (after === null) this.#outbox.putAgain(underWay)
      else await this.#fail(underWay, after)
    }
    this.#isKept = this.#handshake.isDone
  }

  async #failAll(problemOf: Unreached): Promise<void> {
    this.#outbox.clear()
    this.#isKept = false
    this.#fruitless = 0
    for (const underWay of this.#requests.all()) {
      await this.#fail(underWay, problemOf(underWay.sends > 0))
    }
  }

  async #fail(underWay: UnderWay, why: Problem): Promise<void> {
    const { request } = underWay
    const { target, log } = this.#settings
    const facts = { target: target.name, method: request.method, reason: why.reason }
    log.warn(facts, "request failed at the bridge")
    this.#requests.remove(underWay)
    await this.#client.deliver(problemAnswer(request.id, why))
  }
}

function aborted(signal: AbortSignal): Promise<LinkEnd> {
  const { promise, resolve } = Promise.withResolvers<LinkEnd>()
  const end = () => resolve({ why: "the bridge ends", isTransient: false })
  if (signal.aborted) end()
  else signal.addEventListener("abort", end, { once: true })
  return promise
}

function owned(link: Link): AsyncDisposable & { link: Link } {
  return { link, [Symbol.asyncDispose]: () => link.close() }
}
