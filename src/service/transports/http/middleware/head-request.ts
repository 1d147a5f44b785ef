import type { MiddlewareHandler } from "hono"
import type { HttpEnvironment } from "../ports.ts"

/**
 * Hono answers HEAD with what GET would, and drops the body without cancelling it: a stream would
 * keep its feed for ever.
 */
export const headRequest: MiddlewareHandler<HttpEnvironment> = async (c, next) => {
  await next()
  if (c.req.raw.method === "HEAD") await c.res.body?.cancel()
}
