import { z } from "zod"
import { WireError } from "../../src/protocol/failure.ts"
import { until } from "./until.ts"

const Refusal = z.object({ error: WireError })

/** The HTTP API of one service, over TCP or over its unix socket. */
export class HttpTalk {
  readonly #base: string
  readonly #unix: string | null
  /** Sent with every request: who asks, say. */
  readonly #headers: Record<string, string>

  constructor(base: string, unix: string | null = null, headers: Record<string, string> = {}) {
    this.#base = base
    this.#unix = unix
    this.#headers = headers
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const over = this.#unix === null ? {} : { unix: this.#unix }
    const headers = new Headers(init.headers)
    for (const [name, value] of Object.entries(this.#headers)) headers.set(name, value)
    return fetch(`${this.#base}${path}`, { ...init, headers, ...over })
  }

  /** Sends JSON where there is something to send. */
  async ask(method: string, path: string, body?: unknown): Promise<Response> {
    if (body === undefined) return this.fetch(path, { method })
    const headers = { "Content-Type": "application/json" }
    return this.fetch(path, { method, headers, body: JSON.stringify(body) })
  }

  /** Asks, and fails unless it is answered with a body of the given shape. */
  async call<Schema extends z.ZodType>(
    schema: Schema,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<z.output<Schema>> {
    const response = await this.ask(method, path, body)
    const value: unknown = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`)
    return schema.parse(value)
  }

  /** Asks, and fails unless it is refused; what it says, and with which status. */
  async refused(method: string, path: string, body?: unknown): Promise<HttpRefusal> {
    return refusalOf(await this.ask(method, path, body))
  }
}

export type HttpRefusal = { status: number; code: number; reason: string; message: string }

export async function refusalOf(response: Response): Promise<HttpRefusal> {
  if (response.ok) throw new Error(`not refused, but ${response.status}`)
  const { code, message, data } = Refusal.parse(await response.json()).error
  return { status: response.status, code, reason: data.reason, message }
}

export type ReceivedEvent = { event: string; id: string; data: unknown }

/** Server-sent events as they come in. */
export class EventTalk implements Disposable {
  readonly events: ReceivedEvent[] = []
  readonly done: Promise<void>
  readonly #abort: AbortController

  constructor(response: Response, abort: AbortController) {
    this.#abort = abort
    this.done = this.#read(response).catch(() => undefined)
  }

  static async open(
    talk: HttpTalk,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<EventTalk> {
    const abort = new AbortController()
    const response = await talk.fetch(path, {
      headers: { Accept: "text/event-stream", ...headers },
      signal: abort.signal,
    })
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
    return new EventTalk(response, abort)
  }

  async heard(event: string, count = 1): Promise<ReceivedEvent> {
    return until(`${count} × ${event}`, () => {
      return this.events.filter((one) => one.event === event)[count - 1]
    })
  }

  [Symbol.dispose](): void {
    this.#abort.abort()
  }

  async #read(response: Response): Promise<void> {
    if (response.body === null) return
    let rest = ""
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + piece).split("\n\n")
      rest = blocks.pop() ?? ""
      for (const block of blocks) this.#take(block)
    }
  }

  #take(block: string): void {
    const fields = new Map(
      block.split("\n").map((line) => [line.slice(0, line.indexOf(": ")), afterColon(line)]),
    )
    const event = fields.get("event")
    if (event === undefined) return
    const data: unknown = JSON.parse(fields.get("data") ?? "null")
    this.events.push({ event, id: fields.get("id") ?? "", data })
  }
}

function afterColon(line: string): string {
  return line.slice(line.indexOf(": ") + 2)
}
