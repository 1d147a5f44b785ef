import type { Caller } from "../../access/caller.ts"
import type { After } from "./ports.ts"

const credentialCheckMs = 1000

/** One request to MCP and its answer, cut off when its client is gone or its token revoked. */
export class McpExchange implements Disposable {
  /** What came in, without its body, which was read; its signal says when all is over. */
  readonly request: Request
  readonly #over = new AbortController()
  readonly #held = new DisposableStack()
  #isRevoked = false

  constructor(received: Request, caller: Caller, streamSlot: Disposable, after: After) {
    this.#held.use(streamSlot)
    const { url, method, headers, signal } = received
    this.request = new Request(url, { method, headers, signal: this.#over.signal })
    const leave = () => this.#end()
    signal.addEventListener("abort", leave, { once: true })
    this.#held.defer(() => signal.removeEventListener("abort", leave))
    if (signal.aborted) this.#end()
    else this.#watch(caller, after)
  }

  get isRevoked(): boolean {
    return this.#isRevoked
  }

  /** The same body, until it ends or is cut off; `farewell` is told to whoever still listens. */
  passOn(body: ReadableStream<Uint8Array>, farewell: string): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { value, done } = await reader.read()
            if (!done) return controller.enqueue(value)
            this[Symbol.dispose]()
            if (this.#isRevoked) controller.enqueue(new TextEncoder().encode(farewell))
            controller.close()
          } catch (error) {
            this[Symbol.dispose]()
            controller.error(error)
          }
        },
        cancel: async (reason) => {
          this[Symbol.dispose]()
          await reader.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    )
  }

  /** The answer is complete, or nobody waits for it. */
  [Symbol.dispose](): void {
    this.#held.dispose()
  }

  /** A token that is revoked ends what is open within a second. */
  #watch(caller: Caller, after: After): void {
    let timer: Disposable
    const look = () => {
      if (caller.isStillGood()) {
        timer = after(credentialCheckMs, look)
      } else {
        this.#isRevoked = true
        this.#end()
      }
    }
    timer = after(credentialCheckMs, look)
    this.#held.defer(() => timer[Symbol.dispose]())
  }

  #end(): void {
    this.#held.dispose()
    this.#over.abort()
  }
}
