import { aborted, delay, orAborted } from "../../lib/delay.ts"
import { messageOf } from "../../lib/errno.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import type { Reason } from "../../protocol/failure.ts"
import { CallError, ClientClosedError, ConnectionLostError } from "../client-error.ts"
import type { ClientLimits } from "../client-limits.ts"
import { type ReconnectPolicy, reconnectDelayMs } from "./reconnect-policy.ts"
import {
  type Greeting,
  Session,
  type SessionEnd,
  type SessionListener,
  type Unasked,
} from "./session.ts"

export type ConnectionState =
  | { kind: "connecting" }
  | { kind: "connected"; sessionId: string }
  | { kind: "waiting"; attempt: number; delayMs: number; why: string }
  | { kind: "closed"; why: string }

export type ConnectionOptions = {
  openSocket: () => Promise<WebSocket>
  reconnect: ReconnectPolicy
  limits: ClientLimits
  onConnection: (state: ConnectionState) => void
}

/** Refusals that no waiting cures. */
const finalReasons: ReadonlySet<Reason> = new Set(["UNAUTHORIZED", "FORBIDDEN"])

// A vanished peer never answers the closing handshake; nobody should wait for it.
const closeHandshakeMs = 1_000

/** Keeps a session: whenever one ends, the next one is opened, until it is closed for good. */
export class Connection {
  readonly #firstGreeting = Promise.withResolvers<Greeting>()
  readonly greeted = this.#firstGreeting.promise

  readonly #options: ConnectionOptions
  readonly #listener: SessionListener
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  /** The newest session, greeted or not. */
  #newest: Session | null = null
  /** The greeted session that `#current` has been resolved with. */
  #held: Session | null = null
  #current = Promise.withResolvers<Session>()
  #attempt = 0
  #awaySinceMs = performance.now()

  constructor(options: ConnectionOptions, listener: SessionListener) {
    this.#options = options
    this.#listener = listener
    ignoreUnhandledRejection(this.greeted)
    ignoreUnhandledRejection(this.#current.promise)
    this.#running = this.#run().catch((error: unknown) => this.#closeForGood(error))
  }

  /** Aborted when it is closed for good: nobody waits for anything then. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** The session there is, or the next one; rejects when there will be none. */
  session(): Promise<Session> {
    return this.#current.promise
  }

  async close(): Promise<void> {
    const session = this.#held
    this.#closeForGood(new ClientClosedError())
    await this.#running
    // Who has never greeted has been sent nothing that could still be on its way.
    if (session === null) return
    const patience = AbortSignal.timeout(closeHandshakeMs)
    await Promise.race([session.socketClosed, aborted(patience)])
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const session = await this.#open()
      if (session === null) return
      const end = await this.#live(session)
      if (this.#closing.signal.aborted) return
      await this.#recover(end)
    }
  }

  /** Null when it was closed for good before there was a socket: whoever makes it may be slow. */
  async #open(): Promise<Session | null> {
    this.#options.onConnection({ kind: "connecting" })
    const opening = this.#options.openSocket()
    const socket = await orAborted(opening, this.#closing.signal)
    if (socket === null) {
      ignoreUnhandledRejection(opening.then((late) => late.close()))
      return null
    }
    const session = new Session(socket, this.#options.limits, {
      received: (incoming: Unasked) => this.#listener.received(incoming, session),
      ended: () => this.#sessionEnded(session),
    })
    this.#newest = session
    return session
  }

  async #live(session: Session): Promise<SessionEnd> {
    const greeting = await session.greeted
    if (!greeting.ok) return greeting.failure
    if (session.isOver) return session.ended
    const sinceMs = performance.now()
    this.#firstGreeting.resolve(greeting.value)
    this.#held = session
    this.#current.resolve(session)
    this.#options.onConnection({ kind: "connected", sessionId: greeting.value.session_id })
    const end = await session.ended
    this.#awaySinceMs = performance.now()
    // A server that greets and falls over at once is still to be approached slowly.
    if (this.#awaySinceMs - sinceMs >= this.#options.reconnect.maxDelayMs) this.#attempt = 0
    return end
  }

  async #recover(end: SessionEnd): Promise<void> {
    const { failure, why } = end
    if (failure !== null && finalReasons.has(failure.reason)) {
      return this.#closeForGood(new CallError(failure))
    }
    this.#attempt += 1
    const { reconnect } = this.#options
    const delayMs = reconnectDelayMs(this.#attempt, reconnect, Math.random())
    const awayMs = performance.now() - this.#awaySinceMs + delayMs
    if (reconnect.giveUpAfterMs !== null && awayMs > reconnect.giveUpAfterMs) {
      const message = `No connection for ${reconnect.giveUpAfterMs} ms, so it was given up: ${why}`
      return this.#closeForGood(new ConnectionLostError(message))
    }
    this.#options.onConnection({ kind: "waiting", attempt: this.#attempt, delayMs, why })
    await delay(delayMs, this.#closing.signal)
  }

  /** At once, not when the loop comes around: nobody may be handed a session that is over. */
  #sessionEnded(session: Session): void {
    if (session === this.#held && !this.#closing.signal.aborted) {
      this.#held = null
      this.#current = Promise.withResolvers<Session>()
      ignoreUnhandledRejection(this.#current.promise)
    }
    this.#listener.ended(session)
  }

  #closeForGood(cause: unknown): void {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#firstGreeting.reject(cause)
    this.#current.reject(cause) // those who wait now
    this.#current = Promise.withResolvers<Session>()
    ignoreUnhandledRejection(this.#current.promise)
    this.#current.reject(cause) // those who ask later
    const why = messageOf(cause)
    this.#newest?.end(why)
    this.#options.onConnection({ kind: "closed", why })
  }
}
