import type { MiddlewareHandler } from "hono"
import { type KnownNames, originChecker } from "../../../access/origin.ts"
import { refuse } from "../answer.ts"
import { connectionOf, type HttpEnvironment } from "../ports.ts"

export function originCheck(known: KnownNames): MiddlewareHandler<HttpEnvironment> {
  const checkOrigin = originChecker(known)
  return async (c, next) => {
    const checked = checkOrigin({
      host: c.req.header("host") ?? new URL(c.req.url).host,
      origin: c.req.header("origin") ?? null,
      fetchSite: c.req.header("sec-fetch-site") ?? null,
      isUnixSocket: connectionOf(c).peer?.kind === "unix",
    })
    return checked.ok ? next() : refuse(checked.failure)
  }
}
