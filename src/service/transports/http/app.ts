import { Hono, type MiddlewareHandler } from "hono"
import type { Log } from "../../../lib/log.ts"
import type { Caller } from "../../access/caller.ts"
import type { Tarpit } from "../../access/temporary-bans.ts"
import type { Refusals } from "../../gateway/ports.ts"
import { refuse, tooEarly } from "./answer.ts"
import type { CallLimiter } from "./call-limiter.ts"
import { consoleRoute } from "./console/console-route.ts"
import type { Endpoint } from "./endpoint.ts"
import { endpoints } from "./endpoints.ts"
import { respondToMcp, type ServeMcp } from "./mcp-route.ts"
import { bodyBudget, bodyLimit } from "./middleware/bodies.ts"
import {
  holdRefusals,
  refusalAudit,
  rpcRefusals,
  thrownError,
  unknownRoute,
} from "./middleware/refusals.ts"
import { requestId, requestLog } from "./middleware/request-log.ts"
import { headRequest, originCheck, securityHeaders } from "./middleware/security-headers.ts"
import { openApiDocument } from "./open-api.ts"
import {
  type After,
  type Answered,
  type CallerOf,
  connectionOf,
  type HttpContext,
  type HttpEnvironment,
  type ReportGarbage,
  type RoutePorts,
} from "./ports.ts"
import { StreamLimiter, type StreamLimits } from "./streams/stream-limiter.ts"

export type HttpAppOptions = Omit<AppPorts, "document" | "after" | "reportGarbage"> & {
  callerOf: CallerOf
  log: Log
  refusals: Refusals
  maxMessageBytes: number
  /** By which the service may be reached, besides loopback: see `checkOrigin`. */
  allowedHosts: readonly string[]
  allowedOrigins: readonly string[]
  streams: StreamLimits
  tarpit: Pick<Tarpit, "hold">
  /** MCP over HTTP, at `/mcp`. */
  mcp: ServeMcp
  mcpCalls: CallLimiter
  /** The page at `/`. */
  servesConsole?: boolean
  /** The service has broken down, and ends: calls of MCP that only wait are answered. */
  closing: AbortSignal
  after?: After
  reportGarbage?: ReportGarbage
  answered?: Answered
}

type AppPorts = Omit<RoutePorts, "streamSlot">

/**
 * The HTTP API. Whoever serves it bounds the time for a request to arrive, and lets answers take
 * theirs (see `Connection`); `development: false`, else Bun prints why it aborted a stream.
 */
export function createHttpApp(options: HttpAppOptions): Hono<HttpEnvironment> {
  const { callerOf, log, version, after = afterTimer } = options
  let document: Record<string, unknown> | null = null
  const ports: AppPorts = {
    reportGarbage: () => undefined,
    ...options,
    after,
    // Made when it is first asked for: it takes ten milliseconds, and most services never are.
    document: () => (document ??= openApiDocument(endpoints, version)),
  }
  const streams = new StreamLimiter(options.streams)

  const app = new Hono<HttpEnvironment>()
  app.use(requestId, requestLog(log, options.answered), securityHeaders, headRequest)
  app.use(holdRefusals(options.tarpit), refusalAudit(options.refusals), originCheck(options))
  const limitBody = bodyLimit(options.maxMessageBytes)
  const budgetBodies = bodyBudget(options.maxMessageBytes)
  for (const endpoint of endpoints) {
    // Nothing is read of what a stranger sends, except where strangers may ask.
    const { method, path } = endpoint
    const known = authenticate(endpoint, callerOf)
    app.on(method, path, known, budgetBodies, limitBody, (c) =>
      respond(c, endpoint, ports, streams),
    )
  }
  const mcp = {
    serve: options.mcp,
    calls: options.mcpCalls,
    streams,
    after,
    closing: options.closing,
  }
  const known = authenticate({ access: "caller", operationId: "mcp" }, callerOf)
  app.on(["GET", "POST", "DELETE"], "/mcp", rpcRefusals, known, budgetBodies, limitBody, (c) =>
    respondToMcp(c, knownCaller(c, "mcp"), mcp),
  )
  if (options.servesConsole === true) {
    const serveConsole = consoleRoute()
    app.get("/", serveConsole)
    app.get("/console/:file", serveConsole)
  }
  app.notFound(unknownRoute)
  app.onError(thrownError(log))
  return app
}

function authenticate(
  endpoint: Pick<Endpoint, "access" | "operationId">,
  callerOf: CallerOf,
): MiddlewareHandler<HttpEnvironment> {
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

async function respond(
  c: HttpContext,
  endpoint: Endpoint,
  ports: AppPorts,
  streams: StreamLimiter,
): Promise<Response> {
  const caller = c.get("caller")
  // Hono keeps it for whoever reads it.
  if (endpoint.body !== undefined && c.req.raw.body !== null) await c.req.arrayBuffer()
  const connection = connectionOf(c)
  if ((await connection.hasArrived?.()) === false) return refuse(tooEarly)
  using streamSlot = new DisposableStack()
  if (endpoint.streams === true && caller !== null) {
    const taken = streams.acquire(caller)
    if (!taken.ok) return refuse(taken.failure)
    streamSlot.use(taken.value)
  }
  try {
    const response = await answerOf(c, endpoint, { ...ports, streamSlot })
    // A body that goes on keeps the stream slot; nothing follows it on this connection.
    if (streamSlot.disposed) response.headers.set("Connection", "close")
    return response
  } finally {
    if (!streamSlot.disposed) connection.hasAnswered?.()
  }
}

function answerOf(c: HttpContext, endpoint: Endpoint, ports: RoutePorts) {
  if (endpoint.access === "anyone") return endpoint.respond(c, ports, c.get("caller"))
  return endpoint.respond(c, ports, knownCaller(c, endpoint.operationId))
}

function knownCaller(c: HttpContext, operationId: string): Caller {
  const caller = c.get("caller")
  if (caller === null) throw new Error(`${operationId} has nobody who asks`)
  return caller
}

export const afterTimer: After = (delayMs, run) => {
  const timer = setTimeout(run, delayMs)
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
