import type { HonoRequest, MiddlewareHandler } from "hono"
import { type KnownNames, originChecker } from "../../../access/origin.ts"
import { refuse } from "../answer.ts"
import { connectionOf, type HttpEnvironment } from "../ports.ts"

// Whatever a child writes is served as it is: no browser may run it, guess its type or keep it.
const headers = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
}

/** Only where a route has not said otherwise: a page needs a policy of its own. */
export const securityHeaders: MiddlewareHandler<HttpEnvironment> = async (c, next) => {
  await next()
  for (const [name, value] of Object.entries(headers)) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value)
  }
}

/** Hono drops the body that GET would have without canceling it: a stream would keep its feed. */
export const headRequest: MiddlewareHandler<HttpEnvironment> = async (c, next) => {
  await next()
  if (c.req.raw.method === "HEAD") await c.res.body?.cancel()
}

export function originCheck(known: KnownNames): MiddlewareHandler<HttpEnvironment> {
  const checkOrigin = originChecker(known)
  return async (c, next) => {
    const checked = checkOrigin({
      host: c.req.header("host") ?? new URL(c.req.url).host,
      origin: c.req.header("origin") ?? null,
      fetchSite: c.req.header("sec-fetch-site") ?? null,
      isUnixSocket: connectionOf(c).peer?.kind === "unix",
      isLinkToShell: isLinkToShell(c.req),
    })
    return checked.ok ? next() : refuse(checked.failure)
  }
}

/**
 * Whether a person has followed a link to the console: from a chat, a mail, another site. The page
 * has no data in it, and all that it asks for itself comes from its own origin.
 */
function isLinkToShell(request: HonoRequest): boolean {
  const { method, path } = request
  const opensDocument =
    request.header("sec-fetch-mode") === "navigate" &&
    request.header("sec-fetch-dest") === "document"
  return path === "/" && (method === "GET" || method === "HEAD") && opensDocument
}
