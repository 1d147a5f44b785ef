import type { Config } from "../../../config/config.ts"
import type { SessionRestarts } from "../agents/session-restarts.ts"
import type { WorktreePorts, Worktrees } from "../agents/worktrees.ts"
import type { KeeperMetrics } from "../reports/keeper-metrics.ts"
import type { ServiceStorage } from "./open-storage.ts"
import type { ProcessControl } from "./process-control.ts"
import { openSessionRestarts } from "./session-restarts.ts"
import { openWorktrees } from "./worktrees.ts"

type Running = Parameters<typeof openSessionRestarts>[0] & Pick<WorktreePorts, "audited">

/** What is done for agents' sessions besides running them. */
export function openSessions(
  running: Running,
  config: Config,
  record: ServiceStorage,
  machine: ProcessControl,
  metrics: KeeperMetrics,
  self: readonly string[],
): { restarts: SessionRestarts; worktrees: Worktrees } {
  return {
    restarts: openSessionRestarts(running, record, metrics),
    worktrees: openWorktrees(running, config, record, machine, self),
  }
}
