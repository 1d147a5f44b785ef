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
