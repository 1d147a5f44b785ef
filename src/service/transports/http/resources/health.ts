import { Health, NotReady, Ready } from "../../../../protocol/health-report.ts"
import type { Caller } from "../../../access/caller.ts"
import { isAdmin } from "../../../access/permission.ts"
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
    summary: "Tell that the service is alive",
    responses: { 200: { description: "It is.", content: json("Health", Health) } },
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
  summary: "Tell whether the service takes work",
  responses: {
    200: { description: "It does.", content: json("Ready", Ready) },
    503: { description: "It does not, and why.", content: json("NotReady", NotReady) },
  },
  refusals: [],
  async respond(_, ports) {
    const reasons = await ports.health.unreadiness()
    if (reasons.length === 0) return Response.json({ ready: true })
    return Response.json({ ready: false, reasons }, { status: 503 })
  },
}
