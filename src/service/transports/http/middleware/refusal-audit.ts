import type { MiddlewareHandler } from "hono"
import { addressOf } from "../../../access/identify.ts"
import type { Refusals } from "../../../gateway/ports.ts"
import { refusalIn } from "../answer.ts"
import { connectionOf } from "../connection.ts"
import type { HttpEnvironment } from "../ports.ts"

/** Every refusal of every route, and of what stands before them, is told from here. */
export function refusalAudit(refusals: Refusals): MiddlewareHandler<HttpEnvironment> {
  return async (c, next) => {
    await next()
    const failure = refusalIn(c.res)
    if (failure === null) return
    // A body that broke off because its sender went away was not refused.
    if (failure.reason === "INTERNAL" && c.req.raw.signal.aborted) return
    // Before it came to a route, no more is known than this.
    const asked = c.get("asked") ?? { principal: null, method: c.req.raw.method }
    const { peer } = connectionOf(c)
    const address = peer === undefined ? "unknown" : addressOf(peer)
    refusals.refused({ ...asked, address, via: "http", failure })
  }
}
