import { fieldSpans, wholeSpan } from "../messages/json-spans.ts"
import type { AnswerMessage, NotificationMessage, RequestMessage } from "../messages/message.ts"
import { keyOf } from "../messages/message.ts"

const ownIds = "cc-executor-bridge/"
const initializedText = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
const mostSubscriptions = 1_000

/** Whether a key is that of a request which the bridge itself has sent. */
export function isOwnKey(key: string): boolean {
  return key.startsWith(`"${ownIds}`)
}

/**
 * What a client of the legacy era has told its target for good. It is repeated on every new
 * connection before anything else, and the answers are kept from the client.
 */
export class Handshake {
  #params: string | null
  #initialized: string | null
  #lastId = 0
  readonly #subscriptions = new Map<string, string>()
  #logLevel: string | null = null

  /** `params` of an `initialize` that was answered on an earlier connection. */
  constructor(params: string | null) {
    this.#params = params
    this.#initialized = params === null ? null : initializedText
  }

  /** The parameters of the answered `initialize`; null before that. */
  get params(): string | null {
    return this.#params
  }

  get isDone(): boolean {
    return this.#params !== null
  }

  /** An answer of the target's to a request of the client's. */
  answered(request: RequestMessage, answer: AnswerMessage): void {
    if (answer.error !== null) return
    const uri = request.params["uri"]
    switch (request.method) {
      case "initialize":
        this.#params = paramsText(request.text)
        this.#initialized = null
        return
      case "logging/setLevel":
        this.#logLevel = paramsText(request.text)
        return
      case "resources/subscribe":
        if (typeof uri !== "string" || this.#subscriptions.size >= mostSubscriptions) return
        this.#subscriptions.set(uri, paramsText(request.text))
        return
      case "resources/unsubscribe":
        if (typeof uri === "string") this.#subscriptions.delete(uri)
        return
    }
  }

  /** Whether the notification is a part of the handshake, and repeated from now on. */
  notified(notification: NotificationMessage): boolean {
    const isIt = notification.method === "notifications/initialized" && this.isDone
    if (isIt) this.#initialized = notification.text
    return isIt
  }

  /** What a new connection is sent first; null without a session. Its answer is waited for. */
  opening(): { key: string; text: string } | null {
    return this.#params === null ? null : this.#request("initialize", this.#params)
  }

  /** What is sent after that was answered. */
  rest(): string[] {
    const renewed = [...this.#subscriptions.values()].map((params) =>
      this.#request("resources/subscribe", params),
    )
    const level = this.#logLevel === null ? [] : [this.#request("logging/setLevel", this.#logLevel)]
    const initialized = this.#initialized === null ? [] : [this.#initialized]
    return [...initialized, ...[...level, ...renewed].map(({ text }) => text)]
  }

  #request(method: string, params: string): { key: string; text: string } {
    this.#lastId += 1
    const id = `${ownIds}${this.#lastId}`
    const key = keyOf(id)
    const text = `{"jsonrpc":"2.0","id":${key},"method":"${method}","params":${params}}`
    return { key, text }
  }
}

function paramsText(text: string): string {
  const span = fieldSpans(text, wholeSpan(text)).get("params")
  return span === undefined ? "{}" : text.slice(span.start, span.end)
}
