import type { Caller, Operations } from "../gateway/ports.ts"
import { failure } from "../protocol/failure.ts"
import { errorMessage, notificationMessage } from "../protocol/json-rpc.ts"
import type { Connection } from "./connection.ts"
import { Session, type SessionLog } from "./session.ts"

export type SessionSettings = {
  maxSessions: number
  streamTimeoutMs: number // without a sign of life
  version: string
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
const policyViolation = 1008
const goingAway = 1001
/** For a peer that is there after all to read why it is closed. */
const farewellMs = 1000

type Open = { session: Session; connection: Connection; lastHeardMs: number }

/** Every open session, up to a limit; ends those whose peer does not answer any more. */
export class Sessions implements Disposable {
  readonly #settings: SessionSettings
  readonly #operations: Operations
  readonly #log: SessionLog
  readonly #passed: (length: number) => void
  readonly #open = new Map<Session, Open>()
  readonly #pings: Timer

  constructor(
    settings: SessionSettings,
    operations: Operations,
    log: SessionLog,
    passed: (length: number) => void,
  ) {
    this.#settings = settings
    this.#passed = passed
    this.#operations = operations
    this.#log = log
    const pingMs = Math.min(longestPingMs, settings.streamTimeoutMs / 3)
    this.#pings = setInterval(() => this.#ping(pingMs), pingMs)
  }

  get size(): number {
    return this.#open.size
  }

  /** Greets, or refuses when the limit is reached; null then. */
  open(connection: Connection, caller: Caller): Session | null {
    const { maxSessions, version } = this.#settings
    if (this.#open.size >= maxSessions) {
      const message = `All ${maxSessions} sessions are taken: close one, or try again later.`
      connection.send(errorMessage(null, failure("SESSION_LIMIT", message)))
      connection.close(policyViolation, "SESSION_LIMIT")
      this.#log.warn({ maxSessions }, "session refused")
      return null
    }
    const operations = this.#operations
    const id = crypto.randomUUID()
    const log = this.#log
    const passed = this.#passed
    const session = new Session({ id, caller, operations, connection, log, passed })
    this.#open.set(session, { session, connection, lastHeardMs: performance.now() })
    const greeting = { session_id: session.id, version, capabilities }
    session.send(notificationMessage("connected", greeting))
    this.#log.debug({ sessionId: session.id }, "session opened")
    return session
  }

  /** The peer is there: it sent something, answered a ping, or took what was waiting. */
  heard(session: Session): void {
    const open = this.#open.get(session)
    if (open !== undefined) open.lastHeardMs = performance.now()
  }

  close(session: Session, code: number): void {
    if (!this.#open.delete(session)) return
    session[Symbol.dispose]()
    this.#log.debug({ sessionId: session.id, code }, "session closed")
  }

  /** The service ends, or makes room for another gateway. */
  [Symbol.dispose](): void {
    clearInterval(this.#pings)
    for (const { session, connection } of this.#open.values()) {
      connection.close(goingAway, "the gateway is going away: reconnect")
      session[Symbol.dispose]()
    }
    this.#open.clear()
  }

  #ping(pingMs: number): void {
    const nowMs = performance.now()
    for (const open of this.#open.values()) {
      const silentMs = nowMs - open.lastHeardMs
      if (silentMs >= this.#settings.streamTimeoutMs) this.#timeOut(open, silentMs)
      else if (silentMs >= pingMs / 2) open.connection.ping()
    }
  }

  #timeOut({ session, connection }: Open, silentMs: number): void {
    const seconds = Math.round(silentMs / 1000)
    const message = `No answer to a ping for ${seconds} s: the session is closed, executions go on.`
    this.#log.warn({ sessionId: session.id, silentMs }, "session timed out")
    connection.send(errorMessage(null, failure("STREAM_TIMEOUT", message)))
    this.close(session, policyViolation)
    connection.close(policyViolation, "STREAM_TIMEOUT")
    setTimeout(() => connection.terminate(), farewellMs)
  }
}
