import type { MiddlewareHandler } from "hono"
import type { Log } from "../../../../lib/log.ts"
import type { Answered, HttpEnvironment } from "../ports.ts"

// Goes into logs and back into a header: nothing that could end a line or fill a disk.
const safeId = /^[\w.:=+/-]{1,64}$/

/** A request keeps the id it came with, so that a caller finds its own requests in the log. */
export const requestId: MiddlewareHandler<HttpEnvironment> = async (c, next) => {
  const given = c.req.header("x-request-id")
  const id = given !== undefined && safeId.test(given) ? given : crypto.randomUUID()
  c.set("requestId", id)
  await next()
  c.res.headers.set("X-Request-Id", id)
}

/** One line for each request. Neither the query nor headers: they may hold secrets. */
export function requestLog(
  log: Log,
  answered: Answered = () => undefined,
): MiddlewareHandler<HttpEnvironment> {
  return async (c, next) => {
    const startedMs = performance.now()
    await next()
    const { status } = c.res
    const durationMs = performance.now() - startedMs // of a stream, until its beginning
    // What came to no route, or was refused before it did, has no name but its sender's.
    answered(c.get("asked")?.method ?? "unknown", status, durationMs / 1000)
    const facts = {
      requestId: c.get("requestId"),
      method: c.req.raw.method,
      path: c.req.path,
      status,
      durationMs: Math.round(durationMs),
    }
    // Nobody was there any more to whom anything could fail.
    const isFailure = status >= 500 && !c.req.raw.signal.aborted
    if (isFailure) log.warn(facts, "http request failed")
    else log.debug(facts, "http request")
  }
}
