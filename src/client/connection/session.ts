import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import { type MethodName, methods, type ParamsOf, type ResultOf } from "../../protocol/methods.ts"
import type { NotificationOf } from "../../protocol/notifications.ts"
import type { ClientLimits } from "../client-limits.ts"
import { type Incoming, readIncoming } from "./incoming.ts"
import { watchSilence } from "./silence.ts"

export type Greeting = NotificationOf<"connected">
export type SessionEnd = { why: string; failure: Failure | null }

export type AskFailure =
  | { kind: "refused"; failure: Failure }
  /** No answer will come; `sent` tells whether the server may have got the question. */
  | { kind: "lost"; sent: boolean }

/** What no request of this client is answered with. */
export type Unasked = Exclude<
  Incoming,
  { kind: "answer" | "refusal" | "greeting" | "unknown" | "garbage" }
>

export interface SessionListener {
  received(incoming: Unasked, session: Session): void
  ended(session: Session): void
}

type Settle = (settled: Result<unknown, AskFailure>) => void

const open = 1 // WebSocket.OPEN, which not every stand-in for the class carries

/** One socket from the attempt to open it until it is gone. It is never revived: see Connection. */
export class Session {
  readonly #greeted = Promise.withResolvers<Result<Greeting, SessionEnd>>()
  readonly #ended = Promise.withResolvers<SessionEnd>()
  readonly #socketClosed = Promise.withResolvers<void>()
  /** Settles once: with the greeting, or with why there was none. */
  readonly greeted = this.#greeted.promise
  readonly ended = this.#ended.promise
  /** When the socket itself is closed, which a vanished peer may delay. */
  readonly socketClosed = this.#socketClosed.promise

  readonly #socket: WebSocket
  readonly #listener: SessionListener
  readonly #pending = new Map<number, Settle>()
  readonly #greetingTimer: ReturnType<typeof setTimeout>
  readonly #limits: ClientLimits
  /** Until the greeting, the limit for that is the watch. */
  #silence: Disposable | null = null
  #phase: "opening" | "greeted" | "over" = "opening"
  #lastId = 0
  #heardAtMs = performance.now()
  #lastRefusal: Failure | null = null

  constructor(socket: WebSocket, limits: ClientLimits, listener: SessionListener) {
    this.#socket = socket
    this.#listener = listener
    this.#limits = limits
    socket.binaryType = "arraybuffer"
    socket.addEventListener("message", (event) => this.#receive(event.data))
    socket.addEventListener("close", (event) => this.#closed(event.code, event.reason))
    // A `close` event always follows it.
    socket.addEventListener("error", (event) => {
      this.#lastRefusal ??= refusedUpgrade(event)
    })
    const { greetingMs } = limits
    const missed = `no greeting came within ${greetingMs} ms`
    this.#greetingTimer = setTimeout(() => this.end(missed), greetingMs)
  }

  get isOver(): boolean {
    return this.#phase === "over"
  }

  /**
   * Asks once, on this socket only. `answered` runs before any later message is looked at: what
   * the server sends right behind an answer must find everything in place.
   */
  ask<Name extends MethodName>(
    method: Name,
    params: ParamsOf<Name>,
    answered?: (result: ResultOf<Name>) => void,
  ): Promise<Result<ResultOf<Name>, AskFailure>> {
    if (this.#socket.readyState !== open) this.end("the socket is closing")
    if (this.isOver) return Promise.resolve(fail({ kind: "lost", sent: false }))
    const { promise, resolve } = Promise.withResolvers<Result<ResultOf<Name>, AskFailure>>()
    this.#lastId += 1
    this.#pending.set(this.#lastId, (settled) => {
      const result = settled.ok ? readResult(method, settled.value) : settled
      if (result.ok) answered?.(result.value)
      resolve(result)
    })
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id: this.#lastId, method, params }))
    return promise
  }

  end(why: string): void {
    if (this.#phase === "over") return
    this.#phase = "over"
    clearTimeout(this.#greetingTimer)
    this.#silence?.[Symbol.dispose]()
    const end = { why, failure: this.#lastRefusal }
    this.#greeted.resolve(fail(end))
    this.#ended.resolve(end)
    this.#listener.ended(this)
    for (const settle of this.#pending.values()) settle(fail({ kind: "lost", sent: true }))
    this.#pending.clear()
    this.#socket.close(1000)
  }

  #receive(data: unknown): void {
    if (this.isOver) return
    this.#heardAtMs = performance.now()
    const incoming = readIncoming(data)
    switch (incoming.kind) {
      case "answer":
        return this.#settle(incoming.id, ok(incoming.result))
      case "refusal":
        return this.#refused(incoming.id, incoming.failure)
      case "greeting":
        return this.#greet(incoming.greeting)
      case "garbage":
        return this.end(`the server sent ${incoming.why}`)
      case "output":
      case "frame":
      case "notice":
      case "changed":
      case "unreadable-notice":
        return this.#listener.received(incoming, this)
      case "unknown":
        return
    }
  }

  #settle(id: number, settled: Result<unknown, AskFailure>): void {
    const settle = this.#pending.get(id)
    this.#pending.delete(id)
    settle?.(settled)
  }

  #refused(id: number | null, refused: Failure): void {
    if (id !== null) return this.#settle(id, fail({ kind: "refused", failure: refused }))
    // Nobody asked: the server says why it is about to close.
    this.#lastRefusal = refused
    if (this.#phase === "opening") this.end(refused.message)
  }

  #greet(greeting: Greeting): void {
    if (this.#phase !== "opening") return
    this.#phase = "greeted"
    clearTimeout(this.#greetingTimer)
    this.#silence = this.#watchSilence()
    this.#greeted.resolve(ok(greeting))
  }

  #watchSilence(): Disposable {
    const { silenceMs, silenceAnswerMs } = this.#limits
    return watchSilence({
      silenceMs,
      answerMs: silenceAnswerMs,
      heardAtMs: () => this.#heardAtMs,
      // Any answer will do, a refusal as well: it is the sign of life that counts.
      probe: () => ignoreUnhandledRejection(this.ask("list", { limit: 1 })),
      gone: () => this.end(`the server was silent for ${silenceMs} ms and did not answer`),
    })
  }

  #closed(code: number, reason: string): void {
    this.#socketClosed.resolve()
    const said = this.#lastRefusal?.message ?? reason
    this.end(`the connection was closed (${code})${said === "" ? "" : `: ${said}`}`)
  }
}

type ResultReader<Value> = {
  safeParse(json: unknown): { success: true; data: Value } | { success: false; error: Error }
}

const resultReaders: { [Name in MethodName]: { result: ResultReader<ResultOf<Name>> } } = methods

export function readResult<Name extends MethodName>(
  method: Name,
  json: unknown,
): Result<ResultOf<Name>, AskFailure> {
  const read = resultReaders[method].result.safeParse(json)
  if (read.success) return ok(read.data)
  const message = `The answer to ${method} cannot be read: ${read.error.message}`
  return fail({ kind: "refused", failure: failure("INTERNAL", message) })
}

/**
 * Why a server would not open a socket, as far as the socket's `error` event says. Bun puts the
 * HTTP status into its message; browsers hide it, and so does Node: null.
 */
function refusedUpgrade(event: Event): Failure | null {
  const text: unknown = "message" in event ? event.message : null
  const status = typeof text === "string" ? /101 status code: (\d{3})\s*$/.exec(text)?.[1] : null
  switch (status) {
    case "401":
      return failure("UNAUTHORIZED", refusedText(401, "it wants a token, and a good one"))
    case "403":
      return failure("FORBIDDEN", refusedText(403, "it does not allow this from here"))
    case "429":
      return failure("RATE_LIMITED", refusedText(429, "there were too many attempts"))
    default:
      return null
  }
}

function refusedText(status: number, why: string): string {
  return `The service refused the connection (${status}): ${why}.`
}
