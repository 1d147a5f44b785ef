import { parseJson } from "../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { failure } from "../../../protocol/failure.ts"
import { errorMessage, RpcRequest } from "../../../protocol/json-rpc.ts"
import type { Caller } from "../../access/caller.ts"
import { noLongerGood } from "../../access/permission.ts"
import { type HttpFailure, refuse } from "./answer.ts"
import { McpExchange } from "./mcp-exchange.ts"
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
