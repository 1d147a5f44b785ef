import { liveStates } from "../../../execution/state.ts"
import type { Log } from "../../../lib/log.ts"
import { endLeftovers } from "../../os/trees/sweep.ts"
import type { JournalReader } from "../ports.ts"

/** The keeper died, and nobody else is left to end what it ran. */
export async function endTrees(
  settings: { stateDir: string },
  journal: JournalReader | null,
  log: Log,
): Promise<void> {
  const left = liveStates.flatMap((state) => journal?.list({ state, limit: 1000 })?.records ?? [])
  log.error({ executions: left.length }, "keeper gone: ending its executions")
  await endLeftovers(settings.stateDir, null, left)
}
