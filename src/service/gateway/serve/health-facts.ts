import type { GatewaySettings } from "../../../protocol/gateway-settings.ts"
import type { HealthFacts } from "../../../protocol/health-report.ts"
import { residentBytes } from "../../os/proc.ts"
import { enforcementFacts } from "./enforcement-facts.ts"

type HealthSources = {
  settings: GatewaySettings
  sessions: () => number
  live: () => HealthFacts["executions"]
  certificateExpiresAt: () => Date | null
}

/** What the service says of itself to who may know all of it. */
export function healthFactsOf(sources: HealthSources): () => HealthFacts {
  const { settings } = sources
  return () => ({
    uptime_s: Math.max(0, Date.now() - Date.parse(settings.startedAt)) / 1000,
    gateway_uptime_s: performance.now() / 1000,
    containment: settings.containment,
    ...enforcementFacts(settings, process.ppid),
    sessions: sources.sessions(),
    executions: sources.live(),
    rss_bytes: { keeper: residentBytes(process.ppid), gateway: residentBytes(process.pid) },
    certificate_expires_at: sources.certificateExpiresAt()?.toISOString() ?? null,
  })
}
