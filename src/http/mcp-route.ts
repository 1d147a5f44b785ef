import type { Caller } from "../access/caller.ts"
import { fail, ok, type Result } from "../execution/result.ts"
import { failure } from "../protocol/failure.ts"
import { parseJson } from "../protocol/parse-json.ts"
import { type HttpFailure, refuse } from "./answer.ts"
import { connectionOf } from "./connection.ts"
import type { After, HttpContext } from "./ports.ts"
import type { StreamPlaces } from "./stream-places.ts"

/** Answers what came to `/mcp`; `end` cuts off an answer that is still going on. */
export type ServeMcp = (
  request: Request,
  body: unknown,
  caller: Caller,
) => Promise<{ response: Response; end: () => void }>

export type McpRoute = { serve: ServeMcp; places: StreamPlaces; after: After }

const credentialCheckMs = 1000

/** MCP has rules of its own for what it is sent; here it is only let in, bounded and ended. */
export async function respondToMcp(
  c: HttpContext,
  caller: Caller,
  { serve, places, after }: McpRoute,
): Promise<Response> {
  const body = await readBody(c)
  if (!body.ok) return refuse(body.failure)
  const connection = connectionOf(c)
  connection.hasArrived?.()
  const { response, end } = await serve(c.req.raw, body.value, { ...caller, via: "mcp-http" })
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
  if (!isStream || response.body === null) {
    connection.hasAnswered?.()
    return response
  }
  const place = places.take(caller)
  if (!place.ok) {
    end()
    await response.body.cancel()
    return refuse(place.failure)
  }
  const watching = place.value
  watching.use(endWithCredential(caller, end, after))
  const headers = new Headers(response.headers)
  headers.set("Connection", "close") // nothing follows a stream on its connection
  return new Response(disposing(response.body, watching), { status: response.status, headers })
}

/** A token that is revoked ends what is open within a second. */
function endWithCredential(caller: Caller, end: () => void, after: After): Disposable {
  let timer: Disposable
  const look = () => {
    if (!caller.isStillGood()) end()
    else timer = after(credentialCheckMs, look)
  }
  timer = after(credentialCheckMs, look)
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() }
}

/** The same body; what belongs to it is given back at its end, however it comes. */
function disposing(
  body: ReadableStream<Uint8Array>,
  resources: DisposableStack,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await reader.read()
          if (!done) return controller.enqueue(value)
          resources.dispose()
          controller.close()
        } catch (error) {
          resources.dispose()
          controller.error(error)
        }
      },
      async cancel(reason) {
        resources.dispose()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Whether it is JSON at all MCP says; that it is not too much to take apart is seen to here. */
async function readBody(c: HttpContext): Promise<Result<unknown, HttpFailure>> {
  if (c.req.raw.method !== "POST") return ok(undefined)
  const text = await c.req.text()
  const json = parseJson(text)
  if (json.ok) return json
  return fail(failure("PARSE_ERROR", `The body is ${json.failure}.`))
}
