import { delay } from "../../lib/delay.ts"
import {
  cancellation,
  envelopeVersion,
  type Message,
  type NotificationMessage,
  type RequestMessage,
} from "../messages/message.ts"
import { type BridgeTarget, noResumeState } from "../ports.ts"
import { type ClientsSettings, refuse } from "./listening.ts"
import { modernStatus, PostAnswer } from "./post-answer.ts"

/**
 * A connection to the target, for one request at a time and for one revision: many servers look
 * only at the revision of a connection's first request.
 */
type TargetConnection = {
  target: BridgeTarget
  version: string | null
  deliver: ((message: Message) => Promise<void>) | null
  idleSinceMs: number
}

const mostWaiting = 1_000

/**
 * Requests of the modern era over HTTP have no session. Each has a connection to the target of its
 * own while it lasts: so ids of different clients cannot clash, and everything that comes on it
 * belongs to this request. Idle connections are used again.
 */
export class ModernRequests {
  readonly #settings: ClientsSettings
  readonly #waitMs: number
  readonly #connections = new Set<TargetConnection>()
  readonly #waiting = new Set<() => void>()

  /** A request waits `waitMs` for a connection. */
  constructor(settings: ClientsSettings, waitMs = 30_000) {
    this.#settings = settings
    this.#waitMs = waitMs
  }

  async answer(message: RequestMessage, request: Request, mayStream: boolean): Promise<Response> {
    const connection = await this.#acquireConnection(envelopeVersion(message))
    if (connection === null) {
      const why = `${this.#settings.connections} requests are in progress, which is the limit.`
      return refuse(503, -32000, `${why} Try again later.`, message.id)
    }
    if (request.signal.aborted) {
      this.#free(connection)
      return new Response(null, { status: 499 })
    }
    const answer = new PostAnswer({
      expected: 1,
      mayStream,
      statusOf: modernStatus,
      signal: request.signal,
      most: this.#settings.limits.bufferedBytes,
      onGone: () => void this.#cancel(connection, message),
    })
    connection.deliver = async (came) => {
      await answer.deliver(came)
      if (came.kind !== "answer") return
      // After an error without an id the answer may still come: nobody else may get that.
      if (came.key === message.key) this.#free(connection)
      else await this.#remove(connection)
    }
    await connection.target.send(message)
    return answer.response
  }

  /** A notification has no answer, and needs a connection only for a moment. */
  async pass(message: NotificationMessage, version: string | null): Promise<void> {
    const connection = await this.#acquireConnection(version)
    if (connection === null) return
    await connection.target.send(message)
    this.#free(connection)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections].map(({ target }) => target.close("ended")))
  }

  /** The connection is closed, so that a late answer cannot reach the next request. */
  async #cancel(connection: TargetConnection, { id }: RequestMessage): Promise<void> {
    connection.deliver = () => Promise.resolve()
    await connection.target.send(cancellation(id, "the client closed the stream of the request"))
    await this.#remove(connection)
  }

  /** Null when none became free in time. */
  async #acquireConnection(version: string | null): Promise<TargetConnection | null> {
    const deadlineMs = performance.now() + this.#waitMs
    for (;;) {
      const idle = this.#connections
        .values()
        .filter((connection) => connection.deliver === null)
        .toArray()
      const fitting = idle.find((connection) => connection.version === version)
      if (fitting !== undefined) return reserved(fitting)
      const isFull = this.#connections.size >= this.#settings.connections
      const [other] = idle
      if (isFull && other !== undefined) void this.#remove(other)
      if (!isFull || other !== undefined) return reserved(this.#open(version))
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0 || this.#waiting.size >= mostWaiting) return null
      await this.#nextFree(leftMs)
    }
  }

  async #nextFree(timeoutMs: number): Promise<void> {
    const free = new AbortController()
    const wake = () => free.abort()
    this.#waiting.add(wake)
    await delay(timeoutMs, free.signal)
    this.#waiting.delete(wake) // else it would use up the wake-up of one that still waits
  }

  #wakeOne(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    this.#waiting.delete(first)
    first()
  }

  #open(version: string | null): TargetConnection {
    const deliver = async (message: Message) => connection.deliver?.(message)
    const target = this.#settings.openTarget(deliver, noResumeState)
    const connection: TargetConnection = { target, version, deliver: null, idleSinceMs: 0 }
    this.#connections.add(connection)
    return connection
  }

  #free(connection: TargetConnection): void {
    connection.deliver = null
    connection.idleSinceMs = performance.now()
    this.#wakeOne()
  }

  async #remove(connection: TargetConnection): Promise<void> {
    this.#connections.delete(connection)
    this.#wakeOne()
    await connection.target.close("ended")
  }

  closeIdle(): void {
    const beforeMs = performance.now() - this.#settings.idleMs
    for (const connection of this.#connections) {
      const isIdle = connection.deliver === null && connection.idleSinceMs < beforeMs
      if (isIdle) void this.#remove(connection)
    }
  }
}

/** From now on no other request gets it. */
function reserved(connection: TargetConnection): TargetConnection {
  connection.deliver = () => Promise.resolve()
  return connection
}
