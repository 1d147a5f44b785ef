import { permit } from "../../../access/permission.ts"
import { textFormatType } from "../../../metrics/text-format.ts"
import { refuse } from "../answer.ts"
import type { Endpoint } from "../endpoint.ts"

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
