import { ok, type Result } from "../../../lib/result.ts"
import type { FleetPorts, JoinedFleet, JoinFleet } from "./fleet-seam.ts"

/** Null for a service of its own, which pays for nothing of this. */
export async function join(
  joinFleet: JoinFleet | undefined,
  ports: FleetPorts,
): Promise<Result<JoinedFleet | null, string>> {
  const { fleet } = ports.settings
  if (fleet === null) return ok(null)
  const joining = joinFleet ?? (await import("./fleet-member.ts")).joinFleet
  return joining(fleet, ports)
}
