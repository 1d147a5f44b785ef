import { onOneLine } from "../messages/message.ts"

const keepAliveMs = 15_000
const encoder = new TextEncoder()

/** A stream of server-sent events to a client, at the pace at which it reads. */
export class EventStream {
  readonly #most: number
  readonly #onGone: () => void
  readonly #queue: string[] = []
  #length = 0
  #state: "open" | "ending" | "over" = "open"
  #wakeUp = Promise.withResolvers<void>()
  /** While it is full: one for all who wait. */
  #full: PromiseWithResolvers<void> | null = null
  readonly #timer: ReturnType<typeof setInterval>

  /** `most` characters wait; who has more to say waits. */
  constructor(most: number, onGone: () => void) {
    this.#most = most
    this.#onGone = onGone
    // Proxies, and clients, give up on a connection that is silent for a minute.
    this.#timer = setInterval(() => this.#put(": still here\n\n"), keepAliveMs)
  }

  get isOpen(): boolean {
    return this.#state === "open"
  }

  /** Resolves when there is room for more. */
  async send(text: string): Promise<void> {
    if (!this.isOpen) return
    this.#put(`event: message\ndata: ${onOneLine(text)}\n\n`)
    if (this.#length > this.#most) this.#full ??= Promise.withResolvers<void>()
    await this.#full?.promise
  }

  /** What was sent is still read. */
  end(): void {
    if (this.#state === "open") this.#state = "ending"
    clearInterval(this.#timer)
    this.#wakeUp.resolve()
  }

  response(headers: Record<string, string>): Response {
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          while (this.#queue.length === 0 && this.#state === "open") {
            this.#wakeUp = Promise.withResolvers<void>()
            await this.#wakeUp.promise
          }
          const text = this.#queue.splice(0).join("")
          this.#length = 0
          this.#makeRoom()
          if (text !== "") controller.enqueue(encoder.encode(text))
          else {
            this.#over()
            controller.close()
          }
        },
        cancel: () => {
          const wasOpen = this.isOpen
          this.#over()
          if (wasOpen) this.#onGone()
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body, {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        ...headers,
      },
    })
  }

  #put(text: string): void {
    this.#queue.push(text)
    this.#length += text.length
    this.#wakeUp.resolve()
  }

  #over(): void {
    this.#state = "over"
    clearInterval(this.#timer)
    this.#makeRoom()
    this.#wakeUp.resolve()
  }

  #makeRoom(): void {
    this.#full?.resolve()
    this.#full = null
  }
}
