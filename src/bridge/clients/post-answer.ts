import type { AnswerMessage, Message } from "../messages/message.ts"
import { EventStream } from "./event-stream.ts"

export type PostAnswerSettings = {
  /** Answers that are waited for: several for a batch. */
  expected: number
  /** Whether the client takes a stream. */
  mayStream: boolean
  /** The HTTP status of an answer that is sent as JSON. */
  statusOf: (answer: AnswerMessage) => number
  /** Headers that depend on the answer: nothing is sent before it then. */
  headers?: () => Record<string, string>
  signal: AbortSignal
  most: number
  /** The client went away before it was answered. */
  onGone: () => void
}

/** After so long without an answer a stream is begun, since that can be kept alive. */
const streamAfterMs = 5_000

/** The response to a POST: JSON, or a stream when something comes before the answer. */
export class PostAnswer {
  readonly #settings: PostAnswerSettings
  readonly #response = Promise.withResolvers<Response>()
  readonly #held: Message[] = []
  #left: number
  #stream: EventStream | null = null
  #isOver = false
  readonly #timer: ReturnType<typeof setTimeout> | null

  constructor(settings: PostAnswerSettings) {
    this.#settings = settings
    this.#left = settings.expected
    const { signal, headers, mayStream } = settings
    signal.addEventListener("abort", () => this.#gone(), { once: true })
    const mayBegin = mayStream && headers === undefined
    this.#timer = mayBegin ? setTimeout(() => this.#begin(), streamAfterMs) : null
  }

  get response(): Promise<Response> {
    return this.#response.promise
  }

  get takesMore(): boolean {
    return !this.#isOver && this.#settings.mayStream
  }

  async deliver(message: Message): Promise<void> {
    if (this.#isOver) return
    const { headers, mayStream } = this.#settings
    if (message.kind === "answer") return this.#answer(message)
    if (!mayStream) return // the client takes nothing but the answer
    if (headers !== undefined) this.#held.push(message)
    else await this.#begin().send(message.text)
  }

  async #answer(message: AnswerMessage): Promise<void> {
    this.#left -= 1
    const isAlone = this.#settings.expected === 1 && this.#held.length === 0
    if (this.#stream === null && isAlone) return this.#answerAlone(message)
    const stream = this.#begin()
    for (const { text } of this.#held.splice(0)) await stream.send(text)
    const sending = stream.send(message.text)
    if (this.#left === 0) {
      this.#end()
      stream.end()
    }
    await sending
  }

  #answerAlone(message: AnswerMessage): void {
    this.#end()
    const headers = { ...this.#settings.headers?.(), "content-type": "application/json" }
    const status = this.#settings.statusOf(message)
    this.#response.resolve(new Response(message.text, { status, headers }))
  }

  /** No answer will come: the client canceled the request. */
  abandon(): void {
    if (this.#isOver) return
    const stream = this.#begin()
    this.#end()
    stream.end()
  }

  #begin(): EventStream {
    if (this.#stream !== null) return this.#stream
    this.#stream = new EventStream(this.#settings.most, () => this.#gone())
    this.#response.resolve(this.#stream.response(this.#settings.headers?.() ?? {}))
    return this.#stream
  }

  #gone(): void {
    if (this.#isOver) return
    this.#end()
    this.#stream?.end()
    this.#response.resolve(new Response(null, { status: 499 }))
    this.#settings.onGone()
  }

  #end(): void {
    this.#isOver = true
    if (this.#timer !== null) clearTimeout(this.#timer)
  }
}

const statuses: ReadonlyMap<unknown, number> = new Map([
  [-32601, 404], // no such method
  [-32020, 400], // headers and body disagree
  [-32021, 400], // a capability is missing
  [-32022, 400], // the revision is not supported
])

/** 200 also for errors, except those for which the modern era has a status of its own. */
export function modernStatus({ error }: AnswerMessage): number {
  return statuses.get(error?.["code"]) ?? 200
}
