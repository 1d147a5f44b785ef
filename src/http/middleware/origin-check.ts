import type { MiddlewareHandler } from "hono"
import { checkOrigin } from "../../access/origin.ts"
import { refuse } from "../answer.ts"
import { connectionOf } from "../connection.ts"
import type { HttpEnvironment } from "../ports.ts"

export function originCheck(allowedHosts: readonly string[]): MiddlewareHandler<HttpEnvironment> {
  return async (c, next) => {
    const checked = checkOrigin({
      host: c.req.header("host") ?? new URL(c.req.url).host,
      origin: c.req.header("origin") ?? null,
      isUnixSocket: connectionOf(c).isUnixSocket ?? false,
      allowedHosts,
    })
    return checked.ok ? next() : refuse(checked.failure)
  }
}
