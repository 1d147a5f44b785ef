import { parseJson } from "../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import { errorMessage, RpcRequest } from "../../../protocol/json-rpc.ts"
import type { Caller } from "../../access/caller.ts"
import { noLongerGood } from "../../access/permission.ts"
import { type HttpFailure, refuse, tooEarly } from "./answer.ts"
import type { CallLimiter } from "./call-limiter.ts"
import { type After, connectionOf, type HttpContext } from "./ports.ts"
import type { StreamLimiter } from "./streams/stream-limiter.ts"

/**
 * Answers what came to `/mcp`, until the request's signal says that nobody waits any more. When it
 * is `closing`, what only waits is answered at once.
 */
export type ServeMcp = (
  request: Request,
  body: unknown,
  caller: Caller,
  closing: AbortSignal,
) => Promise<Response>

export type McpRoute = {
  serve: ServeMcp
  calls: CallLimiter
  streams: StreamLimiter
  after: After
  /** The service has broken down, and ends. */
  closing: AbortSignal
}

/** MCP has rules of its own for what it is sent; here it is only let in, bounded and ended. */
export async function respondToMcp(
  c: HttpContext,
  caller: Caller,
  route: McpRoute,
): Promise<Response> {
  const body = await readBody(c)
  if (!body.ok) return refuse(body.failure)
  const connection = connectionOf(c)
  if ((await connection.hasArrived?.()) === false) return refuse(tooEarly)
  // Before anything is done: what a limit refuses must not have been started.
  const slot = acquireSlot(c.req.raw, body.value, caller, route)
  if (!slot.ok) {
    connection.hasAnswered?.()
    return refuse(slot.failure)
  }
  const exchange = new McpExchange(c.req.raw, caller, slot.value, route)
  let isGoingOn = false
  try {
    const known = { ...caller, via: "mcp-http" }
    const response = await route.serve(exchange.request, body.value, known, exchange.closing)
    const { body: events, status } = response
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
    if (!isStream || events === null) return exchange.wasCut ? refuse(noLongerGood) : response
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

/** Who listens for updates does so for hours, like a session; whatever else is asked is a call. */
function acquireSlot(
  request: Request,
  body: unknown,
  caller: Caller,
  { calls, streams }: McpRoute,
): Result<DisposableStack, Failure> {
  if (!mayTakeLong(request)) return ok(new DisposableStack())
  const isListening = RpcRequest.safeParse(body).data?.method === "subscriptions/listen"
  return isListening ? streams.acquire(caller) : calls.acquire(caller)
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
/** For a call to answer that its token was revoked, and what it has started. */
const farewellMs = 500

/** One request to MCP and its answer, cut off when its client is gone or its token revoked. */
class McpExchange implements Disposable {
  /** What came in, without its body, which was read; its signal says when all is over. */
  readonly request: Request
  readonly #over = new AbortController()
  readonly #held = new DisposableStack()
  readonly #closing = new AbortController()
  #wasCut = false

  constructor(received: Request, caller: Caller, slot: Disposable, route: McpRoute) {
    this.#held.use(slot)
    const close = () => this.#closing.abort()
    route.closing.addEventListener("abort", close)
    this.#held.defer(() => route.closing.removeEventListener("abort", close))
    const { url, method, headers, signal } = received
    this.request = new Request(url, { method, headers, signal: this.#over.signal })
    const end = () => this.#end()
    signal.addEventListener("abort", end, { once: true })
    this.#held.defer(() => signal.removeEventListener("abort", end))
    if (signal.aborted) this.#end()
    else this.#watch(caller, route.after)
  }

  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Its token was revoked, and it did not answer so by itself. */
  get wasCut(): boolean {
    return this.#wasCut
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
            if (this.#wasCut) controller.enqueue(new TextEncoder().encode(farewell))
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

  /** A token that is revoked ends what is open within a second or two. */
  #watch(caller: Caller, after: After): void {
    let timer: Disposable
    const look = () => {
      if (caller.isStillGood()) {
        timer = after(credentialCheckMs, look)
      } else {
        this.#closing.abort()
        timer = after(farewellMs, () => this.#cut())
      }
    }
    timer = after(credentialCheckMs, look)
    this.#held.defer(() => timer[Symbol.dispose]())
  }

  #cut(): void {
    this.#wasCut = true
    this.#end()
  }

  #end(): void {
    this.#held.dispose()
    this.#over.abort()
  }
}
