import type { z } from "zod"
import { HealthReport } from "../../../src/protocol/health-report.ts"
import type { Service } from "../../support/service.ts"

/** What the service says of itself; the asking leaves no connection behind. */
export async function healthOf(service: Service): Promise<z.infer<typeof HealthReport>> {
  const url = await service.url("/health")
  const response = await fetch(url, { headers: { Connection: "close" }, keepalive: false })
  return HealthReport.parse(await response.json())
}
