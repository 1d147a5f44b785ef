import { Hono, type MiddlewareHandler } from "hono"
import type { Caller } from "../access/caller.ts"
import type { Operations, Refusals } from "../gateway/ports.ts"
import { refuse } from "./answer.ts"
import { connectionOf } from "./connection.ts"
import type { Endpoint } from "./endpoint.ts"
import { endpoints } from "./endpoints.ts"
import { bodyLimit } from "./middleware/body-limit.ts"
import { thrownError, unknownRoute } from "./middleware/errors.ts"
import { headRequest } from "./middleware/head-request.ts"
import { originCheck } from "./middleware/origin-check.ts"
import { refusalAudit } from "./middleware/refusal-audit.ts"
import { requestId } from "./middleware/request-id.ts"
import { requestLog } from "./middleware/request-log.ts"
import { securityHeaders } from "./middleware/security-headers.ts"
import { openApiDocument } from "./open-api.ts"
import type {
  After,
  CallerOf,
  Health,
  HttpContext,
  HttpEnvironment,
  HttpLog,
  Passed,
  RoutePorts,
} from "./ports.ts"
import { afterTimer } from "./timer.ts"

export type HttpAppOptions = {
  operations: Operations
  health: Health
  callerOf: CallerOf
  log: HttpLog
  refusals: Refusals
  version: string
  maxMessageBytes: number
  /** By which the service may be reached, besides loopback: see `checkOrigin`. */
  allowedHosts: readonly string[]
  allowedOrigins: readonly string[]
  /** Gives out tickets: see `Tickets`. */
  issueTicket: (caller: Caller) => string
  after?: After
  passed?: Passed
}

/**
 * The HTTP API. Whoever serves it sets `idleTimeout: 0`, else Bun cuts streams, and
 * `development: false`, else Bun prints why it aborted one.
 */
export function createHttpApp(options: HttpAppOptions): Hono<HttpEnvironment> {
  const { operations, health, callerOf, log, version } = options
  const { after = afterTimer, passed = () => undefined } = options
  const document = openApiDocument(endpoints, version)
  const { issueTicket } = options
  const ports: RoutePorts = { operations, health, after, passed, version, document, issueTicket }

  const app = new Hono<HttpEnvironment>()
  app.use(requestId, requestLog(log), securityHeaders, headRequest)
  app.use(refusalAudit(options.refusals), originCheck(options))
  const limitBody = bodyLimit(options.maxMessageBytes)
  for (const endpoint of endpoints) {
    // Nothing is read of what a stranger sends, except where strangers may ask.
    app.on(endpoint.method, endpoint.path, authenticate(endpoint, callerOf), limitBody, (c) =>
      respond(c, endpoint, ports),
    )
  }
  app.notFound(unknownRoute)
  app.onError(thrownError(log))
  return app
}

function authenticate(endpoint: Endpoint, callerOf: CallerOf): MiddlewareHandler<HttpEnvironment> {
  return async (c, next) => {
    const caller = await callerOf(c.req.raw, connectionOf(c))
    const principal = caller.ok ? caller.value.principal : null
    const { operationId: method } = endpoint
    c.set("asked", { principal, method, executionId: c.req.param("id") })
    if (!caller.ok && endpoint.access === "caller") return refuse(caller.failure)
    c.set("caller", caller.ok ? caller.value : null)
    return next()
  }
}

async function respond(c: HttpContext, endpoint: Endpoint, ports: RoutePorts): Promise<Response> {
  const caller = c.get("caller")
  // Hono keeps it for whoever reads it.
  if (endpoint.body !== undefined && c.req.raw.body !== null) await c.req.arrayBuffer()
  const connection = connectionOf(c)
  connection.hasArrived?.()
  const response = await answerOf(c, endpoint, ports, caller)
  if (endpoint.streams === true && response.ok) response.headers.set("Connection", "close")
  else connection.hasAnswered?.()
  return response
}

function answerOf(c: HttpContext, endpoint: Endpoint, ports: RoutePorts, caller: Caller | null) {
  if (endpoint.access === "anyone") return endpoint.respond(c, ports, caller)
  if (caller === null) throw new Error(`${endpoint.operationId} has nobody who asks`)
  return endpoint.respond(c, ports, caller)
}
