import type { Config } from "../../../config/config.ts"
import type { Log } from "../../../lib/log.ts"
import type { AuditedKeeper } from "../audit/audited-keeper.ts"
import type { GatewayUpdates } from "../gateway-link/gateway-updates.ts"
import { Deliveries } from "../notifications/deliveries.ts"
import type { Clock } from "../ports.ts"
import type { RetryingJournal } from "../supervision/retrying-journal.ts"
import type { ServiceStorage } from "./open-storage.ts"

type OfKeeper = {
  clock: Clock
  log: Log
  audited: AuditedKeeper
  retryingJournal: RetryingJournal
  updates: GatewayUpdates
}

/** From now on the gateway is told when there is something to deliver. */
export function openDeliveries(
  { notifyMaxAgeMs }: Config,
  { notify, notices, journal }: Pick<ServiceStorage, "notify" | "notices" | "journal">,
  { clock, log, audited, retryingJournal, updates }: OfKeeper,
): Deliveries {
  const { withReserve } = retryingJournal
  const deliveries = new Deliveries(notify?.targets ?? [], notifyMaxAgeMs, notices, {
    outbox: () => journal.outbox,
    clock,
    log,
    audited,
    withReserve,
    sync: () => retryingJournal.sync(),
    synced: (ordinal) => updates.outboxSynced(ordinal),
  })
  notices.onWritten = (ordinal) => void deliveries.written(ordinal)
  return deliveries
}
