import { inOrder } from "../../../execution/scope.ts"
import type { Log } from "../../../lib/log.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import { errorMessage, notificationMessage } from "../../../protocol/json-rpc.ts"
import {
  MessageRateLimiter,
  policyViolation,
  tryAgainLater,
} from "../../../protocol/session-limits.ts"
import type { Caller } from "../../access/caller.ts"
import { isAdmin, noLongerGood } from "../../access/permission.ts"
import type { Operations, Parting, Refusals } from "../../gateway/ports.ts"
import { type Connection, type NewSession, Session } from "./session.ts"

export type SessionSettings = {
  maxSessions: number
  maxSessionsPerPrincipal: number // of those that are not admins
  messagesPerSecond: number
  streamTimeoutMs: number // without a sign of life
  version: string
  runAs: string | null
}

export type SessionEvents = {
  log: Log
  refusals: Refusals
  /** Text of so many characters was made and sent. */
  reportGarbage: (length: number) => void
  /** A request was answered, or refused; the method is one of ours, or `unknown`. */
  answered: (method: string, seconds: number) => void
  /** One of the caller's sessions was cut off because it sent too fast. */
  flooded: (caller: Caller) => void
}

const capabilities = [
  "execute",
  "control",
  "stream",
  "input",
  "attach",
  "screen",
  "resize",
  "watch",
  "transcript",
  "receipt",
]
const longestPingMs = 30_000
const credentialCheckMs = 1000
const goingAway = 1001
const goodbye = "the gateway is shutting down: reconnect"
const lookMs = 5
/** For a peer that is there after all to read why it is closed. */
const farewellMs = 1000
/** A message that takes longer may have to give way to another client. */
const quickMessageMs = 250

/** One client's connection, whatever it speaks. */
export interface OpenSession extends Disposable {
  readonly id: string
  readonly caller: Caller
  /** Whether everything was told that it waits for. */
  readonly isTold: boolean
  readonly isClosed: boolean
  /** It is about to be closed: what only waits is answered now, unless it is sent again later. */
  leave(parting: Parting): void
  /** Whether all was answered that has to be before that. */
  hasAnswered(parting: Parting): boolean
  receive(text: string): Promise<void>
  /** The socket has room again. */
  drained(): void
  /** A message that nobody read: the connection was closed for it. */
  refusedTooLarge(mostBytes: number): void
}

/** Begins to speak with a client: the native protocol, or another one. */
export type Speak = (session: NewSession) => OpenSession

/** What is known of the bytes that come in, before they are a message. */
export interface Incoming {
  /** Since when a message is being sent; null between two. */
  readonly unfinishedSinceMs: number | null
  /** Closes the connection although it is in the middle of a message. */
  end(reason: string): void
}

type Open = {
  session: OpenSession
  connection: Connection
  incoming: Incoming | null
  lastHeardMs: number
  isDismissed: boolean
}

/** Every open session, up to a limit; ends those whose peer does not answer any more. */
export class Sessions implements Disposable {
  readonly #settings: SessionSettings
  readonly #operations: Operations
  readonly #events: SessionEvents
  readonly #open = new Map<OpenSession, Open>()
  readonly #timers: Timer[]
  #pingedAtMs = performance.now()

  constructor(settings: SessionSettings, operations: Operations, events: SessionEvents) {
    this.#settings = settings
    this.#operations = operations
    this.#events = events
    const pingMs = Math.min(longestPingMs, settings.streamTimeoutMs / 3)
    this.#timers = [
      setInterval(() => this.#ping(pingMs), pingMs),
      setInterval(() => this.#endRevoked(), credentialCheckMs),
    ]
  }

  get size(): number {
    return this.#open.size
  }

  /** Begins to speak, or refuses when the limit is reached; null then. */
  open(
    connection: Connection,
    caller: Caller,
    options: { speak?: Speak | undefined; incoming?: Incoming | null } = {},
  ): OpenSession | null {
    const { speak = (session) => this.#greet(session), incoming = null } = options
    let limit = this.#reachedLimit(caller)
    while (limit !== null && this.#makeRoom(limit.counted)) limit = this.#reachedLimit(caller)
    if (limit !== null) {
      const { refusal } = limit
      const { principal, address, via } = caller
      const refused = { principal, address, via, method: "connect", failure: refusal }
      this.#events.refusals.refused(refused)
      connection.send(errorMessage(null, refusal))
      connection.close(policyViolation, "SESSION_LIMIT")
      this.#events.log.warn({ principal, sessions: this.size }, "session refused")
      return null
    }
    const { reportGarbage, flooded, log } = this.#events
    const session = speak({
      id: crypto.randomUUID(),
      caller,
      connection,
      rateLimiter: new MessageRateLimiter(this.#settings.messagesPerSecond, performance.now()),
      reportGarbage,
      flooded: () => flooded(caller),
    })
    const lastHeardMs = performance.now()
    this.#open.set(session, { session, connection, incoming, lastHeardMs, isDismissed: false })
    log.debug({ sessionId: session.id }, "session opened")
    return session
  }

  #greet(given: NewSession): Session {
    const { version, runAs } = this.#settings
    const session = new Session({ ...this.#events, ...given, operations: this.#operations })
    const greeting = {
      session_id: session.id,
      version,
      capabilities,
      principal: given.caller.principal,
      scopes: inOrder([...given.caller.scopes]),
      policy: this.#operations.policy,
      ...(runAs === null ? {} : { run_as: runAs }),
    }
    session.send(notificationMessage("connected", greeting))
    return session
  }

  /** The unix socket has as many places of its own: the network cannot keep the owner out. */
  #reachedLimit(caller: Caller): { refusal: Failure; counted: Open[] } | null {
    const { maxSessions, maxSessionsPerPrincipal } = this.#settings
    const isLocal = caller.address === "unix"
    const all = [...this.#open.values()]
    const besides = all.filter(({ session }) => (session.caller.address === "unix") === isLocal)
    if (besides.length >= maxSessions) {
      const message = `All ${maxSessions} sessions are in use: close one, or try again later.`
      return { refusal: failure("SESSION_LIMIT", message), counted: besides }
    }
    const { principal } = caller
    const own = all.filter(({ session }) => session.caller.principal === principal)
    if (isAdmin(caller) || own.length < maxSessionsPerPrincipal) return null
    const has = `${principal} has ${own.length} open sessions already`
    const message = `${has}: close one, or try again later.`
    return { refusal: failure("SESSION_LIMIT", message), counted: own }
  }

  /**
   * Half-sent messages keep nobody out: of whoever has most of them, the session that has been at
   * one for longest is closed. False when there is none.
   */
  #makeRoom(counted: readonly Open[]): boolean {
    const beganMs = performance.now() - quickMessageMs
    const slow = counted.flatMap(({ session, incoming }) => {
      const sinceMs = incoming?.unfinishedSinceMs ?? Infinity
      return incoming !== null && sinceMs <= beganMs ? [{ session, incoming, sinceMs }] : []
    })
    const byPrincipal = Map.groupBy(slow, ({ session }) => session.caller.principal)
    const [most = []] = [...byPrincipal.values()].toSorted(
      (one, other) => other.length - one.length,
    )
    const [oldest] = most.toSorted((one, other) => one.sinceMs - other.sinceMs)
    if (oldest === undefined) return false
    oldest.incoming.end("All sessions are in use, and this one is slow to finish a message.")
    this.close(oldest.session, tryAgainLater)
    return true
  }

  /** The peer is there: it sent something, answered a ping, or took what was waiting. */
  heard(session: OpenSession): void {
    const open = this.#open.get(session)
    if (open !== undefined) open.lastHeardMs = performance.now()
  }

  close(session: OpenSession, code: number): void {
    if (!this.#open.delete(session)) return
    session[Symbol.dispose]()
    this.#events.log.debug({ sessionId: session.id, code }, "session closed")
  }

  /** When the whole service ends, clients hear of every end first, if they read within a moment. */
  async farewell(isServiceEnding: boolean, parting: Parting): Promise<void> {
    const isTold = () => [...this.#open.keys()].every((session) => session.isTold)
    if (isServiceEnding) await this.#moment(isTold)
    await this.#untilAnswered([...this.#open.keys()], parting)
    for (const { connection } of this.#open.values()) connection.close(goingAway, goodbye)
    await this.#moment(() => this.#open.size === 0)
  }

  /** What was started must not be lost with its answer: its id is known to nobody else. */
  async #untilAnswered(sessions: OpenSession[], parting: Parting): Promise<void> {
    for (const session of sessions) session.leave(parting)
    await this.#moment(() =>
      sessions.every((session) => session.isClosed || session.hasAnswered(parting)),
    )
  }

  async #moment(isOver: () => boolean): Promise<void> {
    const untilMs = performance.now() + farewellMs / 2
    while (!isOver() && performance.now() < untilMs) await Bun.sleep(lookMs)
  }

  /** The service ends, or makes room for another gateway. */
  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearInterval(timer)
    for (const { session, connection } of this.#open.values()) {
      connection.close(goingAway, goodbye)
      session[Symbol.dispose]()
    }
    this.#open.clear()
  }

  #ping(pingMs: number): void {
    const nowMs = performance.now()
    // While this process was held up (a busy or suspended machine) it could not hear anybody.
    const heldUpMs = Math.max(0, nowMs - this.#pingedAtMs - pingMs)
    this.#pingedAtMs = nowMs
    for (const open of this.#open.values()) {
      open.lastHeardMs = Math.min(nowMs, open.lastHeardMs + heldUpMs)
      const silentMs = nowMs - open.lastHeardMs
      if (silentMs >= this.#settings.streamTimeoutMs) this.#timeOut(open, silentMs)
      else if (silentMs >= pingMs / 2) open.connection.ping()
    }
  }

  #timeOut(open: Open, silentMs: number): void {
    const seconds = Math.round(silentMs / 1000)
    const message = `No answer to pings for ${seconds} s: closing the session. Executions continue.`
    this.#events.log.warn({ sessionId: open.session.id, silentMs }, "session timed out")
    this.#dismiss(open, failure("STREAM_TIMEOUT", message))
  }

  /** What they ask is refused at once; that they are gone is a matter of a second. */
  #endRevoked(): void {
    for (const open of this.#open.values()) {
      const { id: sessionId, caller } = open.session
      if (caller.isStillGood()) continue
      this.#events.log.warn(
        { sessionId, principal: caller.principal },
        "session ended with its token",
      )
      this.#dismiss(open, noLongerGood)
    }
  }

  #dismiss(open: Open, why: Failure): void {
    if (open.isDismissed) return
    open.isDismissed = true
    void this.#untilAnswered([open.session], "closed").then(() => this.#part(open, why))
  }

  #part({ session, connection }: Open, why: Failure): void {
    if (!this.#open.has(session)) return
    connection.send(errorMessage(null, why))
    this.close(session, policyViolation)
    connection.close(policyViolation, why.reason)
    setTimeout(() => connection.terminate(), farewellMs)
  }
}
