import { SessionRestarts } from "../agents/session-restarts.ts"
import type { GatewayUpdates } from "../gateway-link/gateway-updates.ts"
import type { Keeper } from "../keeper.ts"
import type { KeeperMetrics } from "../reports/keeper-metrics.ts"
import type { RetryingJournal } from "../supervision/retrying-journal.ts"
import type { ServiceStorage } from "./open-storage.ts"

export function openSessionRestarts(
  running: { keeper: Keeper; updates: GatewayUpdates; retryingJournal: RetryingJournal },
  { journal, audit, redaction }: Pick<ServiceStorage, "journal" | "audit" | "redaction">,
  metrics: KeeperMetrics,
): SessionRestarts {
  const { keeper, updates, retryingJournal } = running
  return new SessionRestarts(keeper, {
    store: journal,
    audit: metrics.noting(audit),
    redaction,
    withReserve: retryingJournal.withReserve,
    changed: (record) => updates.changed(record),
  })
}
