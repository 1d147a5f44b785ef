import { Hono } from "hono"
import type { Operations } from "../gateway/ports.ts"
import { refuse } from "./answer.ts"
import { connectionOf } from "./connection.ts"
import type { Endpoint } from "./endpoint.ts"
import { endpoints } from "./endpoints.ts"
import { bodyLimit } from "./middleware/body-limit.ts"
import { thrownError, unknownRoute } from "./middleware/errors.ts"
import { headRequest } from "./middleware/head-request.ts"
import { originCheck } from "./middleware/origin-check.ts"
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
  version: string
  maxMessageBytes: number
  /** By which the service may be reached, besides loopback: see `checkOrigin`. */
  allowedHosts: readonly string[]
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
  const ports: RoutePorts = { operations, health, after, passed, version, document }

  const app = new Hono<HttpEnvironment>()
  app.use(requestId, requestLog(log), securityHeaders, headRequest)
  app.use(originCheck(options.allowedHosts), bodyLimit(options.maxMessageBytes))
  for (const endpoint of endpoints) {
    app.on(endpoint.method, endpoint.path, (c) => respond(c, endpoint, ports, callerOf))
  }
  app.notFound(unknownRoute)
  app.onError(thrownError(log))
  return app
}

async function respond(
  c: HttpContext,
  endpoint: Endpoint,
  ports: RoutePorts,
  callerOf: CallerOf,
): Promise<Response> {
  if (endpoint.access === "anyone") return endpoint.respond(c, ports)
  const caller = await callerOf(c.req.raw, connectionOf(c))
  return caller.ok ? endpoint.respond(c, ports, caller.value) : refuse(caller.failure)
}
