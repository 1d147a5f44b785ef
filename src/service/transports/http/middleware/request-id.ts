import type { MiddlewareHandler } from "hono"
import type { HttpEnvironment } from "../ports.ts"

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
