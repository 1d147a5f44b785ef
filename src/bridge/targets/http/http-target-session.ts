import { reconnectDelayMs } from "../../../client/connection/reconnect-policy.ts"
import type { AnswerMessage, Message, RequestMessage } from "../../messages/message.ts"
import type { ResumeState } from "../../ports.ts"
import { Handshake } from "../handshake.ts"
import { type Exchange, exchange, type HttpContext, type Outcome } from "./http-exchange.ts"
import { anyAnswer, type HttpSession, jsonMessage, sessionHeaders } from "./http-headers.ts"

export type SessionEvents = {
  /** Ends listening, and opening the session again. */
  signal: AbortSignal
  received(message: Message): Promise<void>
}

type Broken = Extract<Outcome, { kind: "broken" }>

const streamDelays = { firstDelayMs: 1_000, maxDelayMs: 30_000 }
const endMs = 2_000

/** The session that one client of the legacy era has at the target. */
export class HttpTargetSession {
  readonly handshake: Handshake
  readonly #context: HttpContext
  readonly #events: SessionEvents
  #current: HttpSession
  #renewing: Promise<boolean> | null = null
  #listening: Promise<void> | null = null

  constructor(context: HttpContext, resumeState: ResumeState, events: SessionEvents) {
    this.#context = context
    this.#events = events
    this.handshake = new Handshake(resumeState.initialize)
    this.#current = { id: resumeState.targetSession, version: resumeState.version }
  }

  get current(): HttpSession {
    return this.#current
  }

  get resumeState(): ResumeState {
    const { id, version } = this.#current
    return { initialize: this.handshake.params, targetSession: id, version }
  }

  get closed(): Promise<unknown> {
    return Promise.all([this.#listening, this.#renewing])
  }

  /** The answer to an `initialize` has an id in its headers, where the target has sessions. */
  opened(headers: Headers): void {
    this.#current = { id: headers.get("mcp-session-id"), version: null }
  }

  answered(request: RequestMessage, answer: AnswerMessage): void {
    this.handshake.answered(request, answer)
    if (request.method !== "initialize" || answer.error !== null) return
    this.#current = { ...this.#current, version: versionIn(answer) }
  }

  /** Whether there is another session now than the one that the target does not know any more. */
  async isReplaced(unknownId: string | null): Promise<boolean> {
    if (!this.handshake.isDone || unknownId === null) return false
    if (this.#current.id !== unknownId) return true
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  async #renew(): Promise<boolean> {
    const { log, target } = this.#context
    const { signal } = this.#events
    const opening = this.handshake.opening()
    if (opening === null) return false
    const session: HttpSession = { id: null, version: null }
    let isOpen = false
    await exchange(this.#context, {
      method: "POST",
      headers: jsonMessage,
      body: opening.text,
      signal,
      onHeaders(headers) {
        session.id = headers.get("mcp-session-id")
      },
      async onMessage(message) {
        if (message.kind !== "answer" || message.key !== opening.key) return false
        isOpen = message.error === null
        session.version = versionIn(message)
        return true
      },
    })
    log.info({ target: target.name, isOpen }, "session was opened again at the target")
    if (!isOpen) return false
    this.#current = session
    const headers = { ...jsonMessage, ...sessionHeaders(session) }
    for (const body of this.handshake.rest()) {
      await exchange(this.#context, { method: "POST", headers, body, signal, onMessage: ignore })
    }
    return true
  }

  /** Opens the target's stream of messages that answer no request, where it has one. */
  listen(): void {
    this.#listening ??= this.#listen().finally(() => {
      this.#listening = null
    })
  }

  async #listen(): Promise<void> {
    const { signal } = this.#events
    const { clock } = this.#context
    let lastEventId: string | null = null
    for (let failures = 0; !signal.aborted; failures += 1) {
      const outcome = await this.#get(lastEventId, signal, async (message) => {
        failures = 0
        await this.#events.received(message)
        return false
      })
      const isOver = ["refused", "unreadable", "accepted"].includes(outcome.kind)
      if (isOver) return // it has no such stream, or no such session any more
      const broken = outcome.kind === "broken" ? outcome : null
      lastEventId = broken?.lastEventId ?? lastEventId
      const delayMs = reconnectDelayMs(failures + 1, streamDelays, clock.random())
      await clock.sleep(Math.max(broken?.retryMs ?? 0, delayMs), signal)
    }
  }

  /** Resumes an answer that was cut off, where the target gave its events ids. */
  async resumed(
    cut: Broken,
    signal: AbortSignal,
    onMessage: Exchange["onMessage"],
  ): Promise<Outcome> {
    const { clock, retry } = this.#context
    let last = cut
    for (let attempt = 1; last.lastEventId !== null && attempt <= retry.tries; attempt += 1) {
      const delayMs = reconnectDelayMs(attempt, retry, clock.random())
      await clock.sleep(last.retryMs ?? delayMs, signal)
      if (signal.aborted) return last
      const before = last.lastEventId
      const outcome = await this.#get(before, signal, onMessage)
      if (outcome.kind === "answered") return outcome
      if (outcome.kind === "refused" || outcome.kind === "unreadable") return cut
      if (outcome.kind !== "broken") continue
      if (outcome.lastEventId !== null && outcome.lastEventId !== before) attempt = 0
      last = { ...outcome, lastEventId: outcome.lastEventId ?? before }
    }
    return last
  }

  /** The client will not use it any more. */
  async end(): Promise<void> {
    if (this.#current.id === null) return
    const signal = AbortSignal.timeout(endMs)
    const headers = { ...anyAnswer, ...sessionHeaders(this.#current) }
    await exchange(this.#context, { method: "DELETE", headers, signal, onMessage: ignore })
  }

  #get(
    lastEventId: string | null,
    signal: AbortSignal,
    onMessage: Exchange["onMessage"],
  ): Promise<Outcome> {
    const headers = {
      accept: "text/event-stream",
      ...sessionHeaders(this.#current),
      ...(lastEventId === null ? {} : { "last-event-id": lastEventId }),
    }
    return exchange(this.#context, { method: "GET", headers, signal, onMessage })
  }
}

/** The first message ends the exchange. */
function ignore(): Promise<boolean> {
  return Promise.resolve(true)
}

function versionIn({ result }: AnswerMessage): string | null {
  const version = result?.["protocolVersion"]
  return typeof version === "string" ? version : null
}
