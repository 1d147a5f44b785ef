import { parseJson } from "../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { failure } from "../../../protocol/failure.ts"
import { errorMessage, RpcRequest } from "../../../protocol/json-rpc.ts"
import type { Caller } from "../../access/caller.ts"
import { noLongerGood } from "../../access/permission.ts"
import { type HttpFailure, refuse } from "./answer.ts"
import { type After, connectionOf, type HttpContext } from "./ports.ts"
import type { StreamLimiter } from "./streams/stream-limiter.ts"

/** Answers what came to `/mcp`, until the request's signal says that nobody waits any more. */
export type ServeMcp = (request: Request, body: unknown, caller: Caller) => Promise<Response>

export type McpRoute = { serve: ServeMcp; streams: StreamLimiter; after: After }

/** MCP has rules of its own for what it is sent; here it is only let in, bounded and ended. */
export async function respondToMcp(
  c: HttpContext,
  caller: Caller,
  { serve, streams, after }: McpRoute,
): Promise<Response> {
  const body = await readBody(c)
  if (!body.ok) return refuse(body.failure)
  const connection = connectionOf(c)
  connection.hasArrived?.()
  // Before anything is done: what the stream limit refuses must not have been started.
  const streamSlot = mayTakeLong(c.req.raw) ? streams.acquire(caller) : ok(new DisposableStack())
  if (!streamSlot.ok) {
    connection.hasAnswered?.()
    return refuse(streamSlot.failure)
  }
  const exchange = new McpExchange(c.req.raw, caller, streamSlot.value, after)
  let isGoingOn = false
  try {
    const response = await serve(exchange.request, body.value, { ...caller, via: "mcp-http" })
    const { body: events, status } = response
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
    if (!isStream || events === null) return exchange.isRevoked ? refuse(noLongerGood) : response
    isGoingOn = true
    const headers = new Headers(response.headers)
    headers.set("Connection", "close") // nothing follows a stream on its connection
    return new Response(exchange.passOn(events, farewellTo(body.value)), { status, headers })
  } finally {
    if (!isGoingOn) {
      exchange[Symbol.dispose]()
      connection.hasAnswered?.()
    }
  }
}

/** All that can call a tool: by itself, or by the id of an event of an earlier call. */
function mayTakeLong({ method, headers }: Request): boolean {
  return method === "POST" || headers.has("last-event-id")
}

/** The last event of a call whose token was revoked; nothing where it is not known which it is. */
function farewellTo(body: unknown): string {
  const id = RpcRequest.safeParse(body).data?.id
  return id === undefined ? "" : `event: message\ndata: ${errorMessage(id, noLongerGood)}\n\n`
}

/** Whether it is JSON at all MCP says; that it is not too much to take apart is seen to here. */
async function readBody(c: HttpContext): Promise<Result<unknown, HttpFailure>> {
  if (c.req.raw.method !== "POST") return ok(undefined)
  const text = await c.req.text()
  const json = parseJson(text)
  if (!json.ok) return fail(failure("PARSE_ERROR", `The body is ${json.failure}.`))
  return Array.isArray(json.value) ? fail(noBatches) : json
}

// A hundred answers to one request would be made whether anybody reads them or not.
const noBatches = failure(
  "INVALID_REQUEST",
  "Batches are not supported: send one message per request.",
)

const credentialCheckMs = 1000

/** One request to MCP and its answer, cut off when its client is gone or its token revoked. */
class McpExchange implements Disposable {
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
