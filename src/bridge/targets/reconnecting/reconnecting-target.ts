import { reconnectDelayMs } from "../../../client/connection/reconnect-policy.ts"
import { orAborted } from "../../../lib/delay.ts"
import {
  type AnswerMessage,
  canceledKey,
  cancellation,
  type Message,
  type NotificationMessage,
  type RequestMessage,
  readMessages,
  wordOf,
} from "../../messages/message.ts"
import type { BridgeTarget, Deliver, ResumeState } from "../../ports.ts"
import { problem, problemAnswer, refusedBy } from "../../problem.ts"
import { Handshake, isOwnKey } from "../handshake.ts"
import { PendingRequests } from "../pending-requests.ts"
import type { TargetContext } from "../target-context.ts"
import { type ConnectProblem, connectWithRetry } from "./connect-with-retry.ts"
import type { Link, LinkEnd, OpenLink } from "./link.ts"
import { Outbox } from "./outbox.ts"

const handshakeMs = 30_000

/**
 * A target whose connection is opened again when it is lost. The client's handshake is repeated on
 * the new one; then what has no answer is sent again where that is safe.
 */
export class ReconnectingTarget implements BridgeTarget {
  readonly requests: PendingRequests
  readonly #settings: TargetContext & { open: OpenLink }
  readonly #deliver: Deliver
  readonly #outbox: Outbox
  readonly #handshake: Handshake
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  #wake = Promise.withResolvers<void>()
  #failedConnections = 0
  /** Whether to stay connected without a request, so that the client hears what the target says. */
  #keepsConnection = false

  // Of the current connection:
  /** Set once everything that waited was sent: from then on messages are sent at once. */
  #live: Link | null = null
  /** Requests of the target's to the client. */
  readonly #asked = new Map<string, RequestMessage>()
  #hasReceived = false
  /** Whether the handshake was repeated. */
  #isRestored = false
  #restoring: { key: string; answered: (answer: AnswerMessage) => void } | null = null

  constructor(
    settings: TargetContext & { open: OpenLink },
    deliver: Deliver,
    resumeState: ResumeState,
  ) {
    this.#settings = settings
    this.#deliver = deliver
    this.#outbox = new Outbox(settings.limits)
    this.requests = new PendingRequests(settings, deliver)
    this.#handshake = new Handshake(resumeState.initialize)
    this.#running = this.#run()
  }

  get isWaiting(): boolean {
    return !this.#outbox.isEmpty
  }

  get resumeState(): ResumeState {
    return { initialize: this.#handshake.params, targetSession: null, version: null }
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
        // The connection on which the target asked may be gone: nobody waits for the answer then.
        if (message.key === null || !this.#asked.delete(message.key)) return
        return this.#sendOneWay(message)
    }
  }

  async #sendRequest(message: RequestMessage): Promise<void> {
    const added = this.requests.add(message)
    if (!added.ok) return this.#deliver(problemAnswer(message.id, added.failure))
    if (this.#live?.isOpen === true) {
      return this.#live.send(this.requests.toSend(added.value).text)
    }
    const full = this.#outbox.put(added.value)
    if (full !== null) return this.requests.fail(added.value, full)
    this.#wake.resolve()
  }

  async #sendNotification(message: NotificationMessage): Promise<void> {
    const canceled = canceledKey(message)
    const meant = canceled === null ? undefined : this.requests.get(canceled)
    if (meant !== undefined) {
      this.requests.remove(meant) // most targets send no answer to a canceled request
      if (this.#outbox.remove(meant)) return
    }
    // Until the handshake was repeated, `initialized` is still to be sent as a part of it.
    if (this.#handshake.notified(message) && !this.#isRestored) return
    return this.#sendOneWay(message)
  }

  /** Nobody waits for an answer: without a connection, and without room, it is dropped. */
  async #sendOneWay(message: NotificationMessage | AnswerMessage): Promise<void> {
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
      const link = opened.value
      await using _closing = { [Symbol.asyncDispose]: () => link.close() }
      const end = await this.#use(link)
      this.#live = null
      this.#isRestored = false
      this.#restoring = null
      if (end !== null && !signal.aborted) await this.#lost(end)
    }
  }

  /** A target that accepts connections and drops them is not connected to in a tight loop. */
  async #slowDown(): Promise<void> {
    const { clock, retry } = this.#settings
    if (this.#failedConnections === 0) return
    const delayMs = reconnectDelayMs(this.#failedConnections, retry, clock.random())
    await clock.sleep(delayMs, this.#closing.signal)
  }

  /** How the connection ended; null when the bridge closes it. */
  async #use(link: Link): Promise<LinkEnd | null> {
    const { signal } = this.#closing
    const ended = orAborted(link.ended, signal)
    // A server that reads nothing must not keep us from leaving it.
    const failed = await Promise.race([this.#begin(link), ended])
    if (failed !== null || signal.aborted) return failed
    this.#live = link
    return ended
  }

  /** Repeats the handshake, then sends what waits. Null when that worked. */
  async #begin(link: Link): Promise<LinkEnd | null> {
    const opening = this.#handshake.opening()
    if (opening !== null) {
      const { promise, resolve } = Promise.withResolvers<AnswerMessage>()
      this.#restoring = { key: opening.key, answered: resolve }
      await link.send(opening.text)
      const late = this.#settings.clock.sleep(handshakeMs, this.#closing.signal)
      const failed = handshakeFailure((await Promise.race([promise, late])) ?? null)
      if (failed !== null) return failed
    }
    const rest = opening === null ? [] : this.#handshake.rest()
    this.#isRestored = link.isOpen
    for (const text of rest) await link.send(text)
    while (link.isOpen && !this.#closing.signal.aborted) {
      const next = this.#outbox.next()
      if (next === undefined) break
      await link.send(("request" in next ? this.requests.toSend(next) : next).text)
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
        this.requests.notified(message)
        const canceled = canceledKey(message)
        if (canceled !== null) this.#asked.delete(canceled)
        return this.#deliver(message)
      }
    }
  }

  async #askedByTarget(message: RequestMessage): Promise<void> {
    const most = this.#settings.limits.messages
    if (this.#asked.size >= most) {
      const why = `The client has ${most} unanswered requests from this server, which is the limit.`
      return this.#live?.send(problemAnswer(message.id, problem("TOO_MANY", why)).text)
    }
    this.#asked.set(message.key, message)
    return this.#deliver(message)
  }

  async #answered(answer: AnswerMessage): Promise<void> {
    const { key } = answer
    if (key === null) return this.#deliver(answer)
    if (isOwnKey(key)) {
      if (this.#restoring?.key === key) this.#restoring.answered(answer)
      return
    }
    const pending = this.requests.get(key)
    if (pending === undefined) {
      this.#settings.log.debug({}, "answer to an unknown request")
      return
    }
    this.#settings.target.learn(pending.request, answer)
    this.#handshake.answered(pending.request, answer)
    await this.requests.answer(pending, answer)
  }

  async #lost(end: LinkEnd): Promise<void> {
    const { target, log, retry } = this.#settings
    log.warn({ target: target.name, why: end.why }, "connection to target was lost")
    if (!this.#hasReceived) {
      this.#failedConnections += 1
      target.breaker.failed(end.why)
    }
    for (const { id } of this.#asked.values()) {
      await this.#deliver(cancellation(id, "the connection to the server was lost"))
    }
    this.#asked.clear()
    if (!end.isTransient) return this.#failAll(() => refusedBy(target.name, end.why))
    const sent = this.requests.all.filter((one) => one.sends > 0 && !this.#outbox.has(one))
    const decided = sent.map((one) => {
      return { one, why: target.whyNotResent(one, end.why, retry.tries) }
    })
    this.#outbox.putAgain(decided.filter(({ why }) => why === null).map(({ one }) => one))
    for (const { one, why } of decided) if (why !== null) await this.requests.fail(one, why)
    this.#keepsConnection = this.#handshake.isDone
  }

  async #failAll(problemOf: ConnectProblem): Promise<void> {
    this.#outbox.clear()
    this.#keepsConnection = false
    this.#failedConnections = 0
    for (const pending of this.requests.all) {
      await this.requests.fail(pending, problemOf(pending.sends > 0))
    }
  }
}

function handshakeFailure(answer: AnswerMessage | null): LinkEnd | null {
  if (answer === null) return { why: "it did not answer the handshake", isTransient: true }
  if (answer.error === null) return null
  const why = `it refused to reopen the session: ${wordOf(answer.error["message"])}`
  return { why, isTransient: false }
}
