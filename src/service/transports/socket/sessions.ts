import type { Log } from "../../../lib/log.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import { errorMessage, notificationMessage } from "../../../protocol/json-rpc.ts"
import { MessageRateLimiter, policyViolation } from "../../../protocol/session-limits.ts"
import type { Caller } from "../../access/caller.ts"
import { isAdmin, noLongerGood } from "../../access/permission.ts"
import type { Operations, Refusals } from "../../gateway/ports.ts"
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

/** One client's connection, whatever it speaks. */
export interface OpenSession extends Disposable {
  readonly id: string
  readonly caller: Caller
  /** Whether everything was told that it waits for. */
  readonly isTold: boolean
  readonly isClosed: boolean
  receive(text: string): Promise<void>
  /** The socket has room again. */
  drained(): void
  /** A message that nobody read: the connection was closed for it. */
  refusedTooLarge(mostBytes: number): void
}

/** Begins to speak with a client: the native protocol, or another one. */
export type Speak = (session: NewSession) => OpenSession

type Open = { session: OpenSession; connection: Connection; lastHeardMs: number }

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
    speak: Speak = (session) => this.#greet(session),
  ): OpenSession | null {
    const refusal = this.#refusal(caller)
    if (refusal !== null) {
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
    this.#open.set(session, { session, connection, lastHeardMs: performance.now() })
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
      policy: this.#operations.policy,
      ...(runAs === null ? {} : { run_as: runAs }),
    }
    session.send(notificationMessage("connected", greeting))
    return session
  }

  /** The unix socket has as many places of its own: the network cannot keep the owner out. */
  #refusal(caller: Caller): Failure | null {
    const { maxSessions, maxSessionsPerPrincipal } = this.#settings
    const sessions = [...this.#open.keys()].map((session) => session.caller)
    const isLocal = caller.address === "unix"
    const besides = sessions.filter(({ address }) => (address === "unix") === isLocal).length
    if (besides >= maxSessions) {
      const message = `All ${maxSessions} sessions are in use: close one, or try again later.`
      return failure("SESSION_LIMIT", message)
    }
    const { principal } = caller
    const own = sessions.filter((other) => other.principal === principal).length
    if (isAdmin(caller) || own < maxSessionsPerPrincipal) return null
    const message = `${principal} has ${own} open sessions already: close one, or try again later.`
    return failure("SESSION_LIMIT", message)
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
  async farewell(isServiceEnding: boolean): Promise<void> {
    const isTold = () => [...this.#open.keys()].every((session) => session.isTold)
    if (isServiceEnding) await this.#moment(isTold)
    for (const { connection } of this.#open.values()) connection.close(goingAway, goodbye)
    await this.#moment(() => this.#open.size === 0)
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

  #dismiss({ session, connection }: Open, why: Failure): void {
    connection.send(errorMessage(null, why))
    this.close(session, policyViolation)
    connection.close(policyViolation, why.reason)
    setTimeout(() => connection.terminate(), farewellMs)
  }
}
