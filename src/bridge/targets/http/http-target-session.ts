import { reconnectDelayMs } from "../../../client/connection/reconnect-policy.ts"
import type { AnswerMessage, Message, RequestMessage } from "../../messages/message.ts"
import type { ResumeState } from "../../ports.ts"
import { Handshake } from "../handshake.ts"
import { type Exchange, exchange, type Outcome } from "./http-exchange.ts"
import { type HttpSession, sessionHeaders } from "./http-headers.ts"
import type { HttpTargetSettings } from "./http-settings.ts"

export type SessionEvents = {
  /** Ends everything that the session does by itself. */
  signal: AbortSignal
  received(message: Message): Promise<void>
}

type IsAnswer = (message: Message) => Promise<boolean>
type Broken = Extract<Outcome, { kind: "broken" }>

const streamDelays = { firstDelayMs: 1_000, maxDelayMs: 30_000, giveUpAfterMs: null }
const endMs = 2_000
const jsonType = "application/json"
const eventType = "text/event-stream"

/** The target's session of one client of the legacy era: opened, opened again, listened to. */
export class HttpTargetSession {
  readonly handshake: Handshake
  readonly #settings: HttpTargetSettings
  readonly #events: SessionEvents
  #current: HttpSession
  #renewing: Promise<boolean> | null = null
  #listening: Promise<void> | null = null

  constructor(settings: HttpTargetSettings, resumeState: ResumeState, events: SessionEvents) {
    this.#settings = settings
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
  heard(message: Message, headers: Headers): void {
    const isOpening = message.kind === "request" && message.method === "initialize"
    if (isOpening) this.#current = { id: headers.get("mcp-session-id"), version: null }
  }

  answered(request: RequestMessage, answer: AnswerMessage): void {
    this.handshake.answered(request, answer)
    if (request.method !== "initialize" || answer.error !== null) return
    this.#current = { ...this.#current, version: versionIn(answer) }
  }

  /** Whether the session is another one now than that which the target did not know any more. */
  async isReplaced(unknownId: string | null): Promise<boolean> {
    if (!this.handshake.isDone || unknownId === null) return false
    if (this.#current.id !== unknownId) return true
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  async #renew(): Promise<boolean> {
    const { log, target } = this.#settings
    const opening = this.handshake.opening()
    if (opening === null) return false
    let session: HttpSession = { id: null, version: null }
    let isOpen = false
    await this.#exchange(
      this.#events.signal,
      { method: "POST", body: opening.text },
      async (came) => {
        if (came.kind !== "answer" || came.key !== opening.key) return false
        isOpen = came.error === null
        session = { ...session, version: versionIn(came) }
        return true
      },
      (headers) => {
        session = { ...session, id: headers.get("mcp-session-id") }
      },
    )
    log.info({ target: target.name, isOpen }, "session was opened again at the target")
    if (!isOpen) return false
    this.#current = session
    for (const body of this.handshake.rest()) {
      const sent = { method: "POST", body, session } as const
      await this.#exchange(this.#events.signal, sent, () => Promise.resolve(true))
    }
    return true
  }

  /** Listens to what the target says by itself, where it does. */
  listen(): void {
    this.#listening ??= this.#listen().finally(() => {
      this.#listening = null
    })
  }

  async #listen(): Promise<void> {
    const { signal } = this.#events
    const { clock } = this.#settings
    let lastEventId: string | null = null
    for (let failures = 0; !signal.aborted; failures += 1) {
      const outcome = await this.#get(lastEventId, signal, async (message) => {
        failures = 0
        await this.#events.received(message)
        return false
      })
      const isOver = ["refused", "unreadable", "accepted"].includes(outcome.kind)
      if (isOver) return // it has no such stream, or no such session any more
      const said = outcome.kind === "broken" ? outcome : null
      lastEventId = said?.lastEventId ?? lastEventId
      const delayMs = reconnectDelayMs(failures + 1, streamDelays, clock.random())
      await clock.sleep(Math.max(said?.retryMs ?? 0, delayMs), signal)
    }
  }

  /** Goes on with an answer that was cut off, where the target says how. */
  async resumed(cut: Broken, signal: AbortSignal, isAnswer: IsAnswer): Promise<Outcome> {
    const { clock, retry } = this.#settings
    let last = cut
    for (let attempt = 1; last.lastEventId !== null && attempt <= retry.tries; attempt += 1) {
      const delayMs = reconnectDelayMs(attempt, { ...retry, giveUpAfterMs: null }, clock.random())
      await clock.sleep(last.retryMs ?? delayMs, signal)
      if (signal.aborted) return last
      const before = last.lastEventId
      const outcome = await this.#get(before, signal, isAnswer)
      if (outcome.kind === "answered") return outcome
      if (outcome.kind === "refused" || outcome.kind === "unreadable") return cut
      if (outcome.kind !== "broken") continue
      if (outcome.lastEventId !== null && outcome.lastEventId !== before) attempt = 0
      last = { ...outcome, lastEventId: outcome.lastEventId ?? before }
    }
    return last
  }

  /** The client is done with it. */
  async end(): Promise<void> {
    if (this.#current.id === null) return
    const signal = AbortSignal.timeout(endMs)
    await this.#exchange(signal, { method: "DELETE", body: null, session: this.#current }, () =>
      Promise.resolve(true),
    )
  }

  #get(lastEventId: string | null, signal: AbortSignal, isAnswer: IsAnswer): Promise<Outcome> {
    const headers = lastEventId === null ? {} : { "last-event-id": lastEventId }
    const sent = { method: "GET", body: null, session: this.#current, headers } as const
    return this.#exchange(signal, sent, isAnswer)
  }

  #exchange(
    signal: AbortSignal,
    sent: Pick<Exchange, "method" | "body"> & {
      session?: HttpSession
      headers?: Record<string, string>
    },
    message: IsAnswer,
    headers: (headers: Headers) => void = () => undefined,
  ): Promise<Outcome> {
    const { http, limits, log, target } = this.#settings
    const { method, body, session = { id: null, version: null } } = sent
    const accept = method === "GET" ? eventType : `${jsonType}, ${eventType}`
    const own = {
      accept,
      ...(body === null ? {} : { "content-type": jsonType }),
      ...sessionHeaders(session),
      ...sent.headers,
      ...http.authorization(),
    }
    const { url, tls } = http
    const { messageBytes } = limits
    return exchange(
      { url, tls, method, body, headers: own, signal, isFresh: false, messageBytes },
      {
        headers,
        message,
        junk: (why) => log.warn({ target: target.name, why }, "target sent an invalid message"),
      },
    )
  }
}

function versionIn({ result }: AnswerMessage): string | null {
  const version = result?.["protocolVersion"]
  return typeof version === "string" ? version : null
}
