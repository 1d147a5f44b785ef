import type { GatewaySettings } from "../../../protocol/gateway-settings.ts"
import type { HealthFacts } from "../../../protocol/health-report.ts"
import { limitHolders } from "../../../protocol/limit-holders.ts"
import { processLimit, RLIMIT_NOFILE, RLIMIT_NPROC } from "../../os/libc.ts"

type Facts = "containment_reason" | "limits_held_by" | "open_files" | "processes"

/** What the keeper has to hold executions together and to their limits. */
export function enforcementFacts(
  settings: Pick<GatewaySettings, "containmentWhy" | "limitsHeldBy" | "neededOpenFiles">,
  keeperPid: number,
): Pick<HealthFacts, Facts> {
  const { containmentWhy, limitsHeldBy, neededOpenFiles: needed } = settings
  return {
    containment_reason: containmentWhy,
    limits_held_by: limitHolders(limitsHeldBy),
    open_files: { ...processLimit(keeperPid, RLIMIT_NOFILE), needed },
    processes: processLimit(keeperPid, RLIMIT_NPROC),
  }
}
