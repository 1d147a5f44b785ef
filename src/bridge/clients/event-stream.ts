import { onOneLine } from "../messages/message.ts"

const keepAliveMs = 15_000
const encoder = new TextEncoder()

/** A stream of server-sent events to a client, at the pace at which it reads. */
export class EventStream {
  readonly #body: ReadableStream<Uint8Array>
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null
  /** While it is full: one for all who wait. */
  #full: PromiseWithResolvers<void> | null = null
  readonly #timer: ReturnType<typeof setInterval>

  /** `mostBytes` wait to be read; whoever sends more waits. */
  constructor(mostBytes: number, onGone: () => void) {
    this.#body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#makeRoom(),
        cancel: () => {
          const wasOpen = this.#controller !== null
          this.#over()
          if (wasOpen) onGone()
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: mostBytes }),
    )
    // Proxies, and clients, give up on a connection that is silent for a minute.
    this.#timer = setInterval(() => this.#put(": still here\n\n"), keepAliveMs)
  }

  /** Resolves when there is room for more. */
  async send(text: string): Promise<void> {
    this.#put(`event: message\ndata: ${onOneLine(text)}\n\n`)
    await this.#full?.promise
  }

  /** What was sent can still be read. */
  end(): void {
    this.#controller?.close()
    this.#over()
  }

  response(headers: Record<string, string>): Response {
    return new Response(this.#body, {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        ...headers,
      },
    })
  }

  #put(text: string): void {
    if (this.#controller === null) return
    this.#controller.enqueue(encoder.encode(text))
    const isFull = (this.#controller.desiredSize ?? 0) <= 0
    if (isFull) this.#full ??= Promise.withResolvers<void>()
  }

  #makeRoom(): void {
    this.#full?.resolve()
    this.#full = null
  }

  #over(): void {
    this.#controller = null
    clearInterval(this.#timer)
    this.#makeRoom()
  }
}
