import type { ErrorHandler, MiddlewareHandler, NotFoundHandler } from "hono"
import type { Log } from "../../../../lib/log.ts"
import { failure } from "../../../../protocol/failure.ts"
import { addressOf } from "../../../access/identify.ts"
import type { Tarpit } from "../../../access/temporary-bans.ts"
import type { Refusals } from "../../../gateway/ports.ts"
import { brokenOff, refusalIn, refuse } from "../answer.ts"
import { connectionOf, type HttpEnvironment } from "../ports.ts"

/** Where JSON-RPC is spoken, what is refused before it is read is refused in its form too. */
export const rpcRefusals: MiddlewareHandler<HttpEnvironment> = async (c, next) => {
  await next()
  const refused = refusalIn(c.res)
  if (refused === null) return
  c.res = undefined // else Hono makes a third response, with the headers of both
  c.res = refuse(refused, {}, { jsonrpc: "2.0", id: null })
}

/** Every refusal of every route, and of what stands before them, is told from here. */
export function refusalAudit(refusals: Refusals): MiddlewareHandler<HttpEnvironment> {
  return async (c, next) => {
    await next()
    const refused = refusalIn(c.res)
    if (refused === null) return
    // A body that broke off because its sender went away was not refused.
    if (refused.reason === "INTERNAL" && c.req.raw.signal.aborted) return
    // Before it came to a route, no more is known than this.
    const asked = c.get("asked") ?? { principal: null, method: c.req.raw.method }
    const { peer } = connectionOf(c)
    const address = peer === undefined ? "unknown" : addressOf(peer)
    refusals.refused({ ...asked, address, via: "http", failure: refused })
  }
}

/** Who asks too fast waits for the answer that says so, wherever it was found out. */
export function holdRefusals(tarpit: Pick<Tarpit, "hold">): MiddlewareHandler<HttpEnvironment> {
  return async (c, next) => {
    await next()
    const refused = refusalIn(c.res)
    if (refused !== null) await tarpit.hold(refused)
  }
}

/** What was thrown is a bug: told in full to the log, and to the caller only that it happened. */
export function thrownError(log: Log): ErrorHandler<HttpEnvironment> {
  return (error, c) => {
    const requestId = c.get("requestId")
    // A body that breaks off because its sender has ended the connection is nobody's bug.
    if (c.req.raw.signal.aborted && error.name === "AbortError") {
      log.debug({ requestId }, "http request was aborted")
      return refuse(brokenOff)
    }
    log.error({ requestId, err: error }, "http request threw")
    const message = `Internal error. See the log of the service for request ${requestId}.`
    return refuse(failure("INTERNAL", message, { request_id: requestId }))
  }
}

export const unknownRoute: NotFoundHandler<HttpEnvironment> = (c) => {
  const message = `No such route: ${c.req.raw.method} ${c.req.path}. See /openapi.json.`
  return refuse(failure("METHOD_NOT_FOUND", message))
}
