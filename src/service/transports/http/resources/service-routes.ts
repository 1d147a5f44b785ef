import { z } from "zod"
import { Health, History, NotReady, Ready } from "../../../../protocol/health-report.ts"
import type { Caller } from "../../../access/caller.ts"
import { isAdmin, permit } from "../../../access/permission.ts"
import { ticketLifeMs } from "../../../access/tickets.ts"
import { textFormatType } from "../../../metrics/text-format.ts"
import { refuse } from "../answer.ts"
import { type Endpoint, json } from "../endpoint.ts"
import type { RoutePorts } from "../ports.ts"

export const getHealth: Endpoint = health("/health", "health")
export const getHealthz: Endpoint = health("/healthz", "healthz")

function health(path: string, operationId: string): Endpoint {
  return {
    method: "get",
    path,
    access: "anyone",
    operationId,
    summary: "Check that the service is alive",
    responses: { 200: { description: "It is alive.", content: json("Health", Health) } },
    refusals: [],
    respond: (_, ports, caller) => Response.json(report(ports, caller)),
  }
}

function report(ports: RoutePorts, caller: Caller | null): Health {
  // How much goes on here is no business of who may see only their own.
  if (caller === null || !isAdmin(caller)) return { status: "ok" }
  return { status: "ok", version: ports.version, ...ports.health.facts() }
}

export const getReadyz: Endpoint = {
  method: "get",
  path: "/readyz",
  access: "anyone",
  operationId: "readyz",
  summary: "Check whether the service accepts work",
  responses: {
    200: { description: "It accepts work.", content: json("Ready", Ready) },
    503: { description: "It does not; the reasons say why.", content: json("NotReady", NotReady) },
  },
  refusals: [],
  async respond(_, ports) {
    const reasons = await ports.health.unreadiness()
    if (reasons.length === 0) return Response.json({ ready: true })
    return Response.json({ ready: false, reasons }, { status: 503 })
  },
}

export const getMetrics: Endpoint = {
  method: "get",
  path: "/metrics",
  access: "caller",
  operationId: "metrics",
  summary: "Get metrics for Prometheus",
  description: "Needs the scope `metrics`, which gives no access to executions.",
  responses: {
    200: {
      description: "Metrics in Prometheus's text format 0.0.4.",
      content: { [textFormatType]: "bytes" },
    },
  },
  refusals: [],
  async respond(_, ports, caller) {
    const permitted = permit(caller, "metrics")
    if (!permitted.ok) return refuse(permitted.failure)
    return new Response(await ports.metrics(), { headers: { "Content-Type": textFormatType } })
  },
}

export const getHistory: Endpoint = {
  method: "get",
  path: "/history",
  access: "caller",
  operationId: "history",
  summary: "Get memory, sessions and output of the last hour, for plots",
  description: "Needs the scope `metrics`, which gives no access to executions.",
  responses: {
    200: { description: "One sample after another.", content: json("History", History) },
  },
  refusals: [],
  respond(_, ports, caller) {
    const permitted = permit(caller, "metrics")
    return permitted.ok ? Response.json(ports.health.history()) : refuse(permitted.failure)
  },
}

const Ticket = z.object({
  ticket: z.string().describe("goes into the URL: `/ws/mcp?ticket=…`"),
  expires_in: z.number().describe("seconds"),
})

export const postTickets: Endpoint = {
  method: "post",
  path: "/tickets",
  access: "caller",
  operationId: "ticket",
  summary: "Get a ticket for one WebSocket",
  description:
    "For browsers, which cannot send a header with a WebSocket. It opens one connection, on " +
    "behalf of whoever requested it, within a minute.",
  responses: { 200: { description: "The ticket.", content: json("Ticket", Ticket) } },
  refusals: [],
  respond(_, { issueTicket }, caller) {
    return Response.json({ ticket: issueTicket(caller), expires_in: ticketLifeMs / 1000 })
  },
}

const OpenApi = z.looseObject({ openapi: z.literal("3.1.1") })

export const getOpenApi: Endpoint = {
  method: "get",
  path: "/openapi.json",
  access: "caller",
  operationId: "openapi",
  summary: "Get this document",
  responses: { 200: { description: "OpenAPI 3.1.", content: json("OpenApi", OpenApi) } },
  refusals: [],
  respond: (_, ports) => Response.json(ports.document()),
}
