import { randomBytes } from "node:crypto"
import type { Config } from "../../../config/config.ts"
import { executionIdFrom } from "../../../execution/id.ts"
import { GarbageCollector } from "../../os/garbage-collector.ts"
import { signalNumber } from "../../os/signals.ts"
import { JournalFullError } from "../../storage/journal/journal-failure.ts"
import { AuditedKeeper } from "../audit/audited-keeper.ts"
import { GatewayUpdates } from "../gateway-link/gateway-updates.ts"
import { createHousekeeping } from "../housekeeping/housekeeping.ts"
import { Keeper } from "../keeper.ts"
import type { Deliveries } from "../notifications/deliveries.ts"
import type { Clock } from "../ports.ts"
import type { KeeperMetrics } from "../reports/keeper-metrics.ts"
import { openRetryingJournal, type RetryingJournal } from "../supervision/retrying-journal.ts"
import { supervisionEvents } from "../supervision/supervision-events.ts"
import type { Trials } from "../trials/trials.ts"
import { agentPorts } from "./agent-ports.ts"
import { openDeliveries } from "./open-deliveries.ts"
import type { ServiceStorage } from "./open-storage.ts"
import { openTrials } from "./open-trials.ts"
import type { ServeOptions } from "./options.ts"
import type { ProcessControl } from "./process-control.ts"
import { fingerprint, keeperSettings, retentionSettings } from "./settings.ts"

const collectEveryBytes = 32 * 1024 * 1024
/** What an execution leaves behind, however little it wrote; to find trees, /proc is read often. */
const executionBytes = { cgroup: 512 * 1024, "best-effort": 1024 * 1024 }

export type Running = {
  keeper: Keeper
  audited: AuditedKeeper
  trials: Trials
  deliveries: Deliveries
  updates: GatewayUpdates
  retryingJournal: RetryingJournal
  runHousekeeping: () => void
}

/** The keeper with all that it needs. */
export function runKeeper(
  config: Config,
  record: ServiceStorage,
  { containment, spawner, descriptors }: ProcessControl,
  metrics: KeeperMetrics,
  clock: Clock,
  { logger: log, self }: Pick<ServeOptions, "logger" | "self">,
): Running {
  const { state, policy, redaction, journal, audit, signer, transcripts } = record
  const isFull = isJournalFull
  const missingInodes = () => keeper.admission.inodes.missing()
  const disk = () => keeper.disk
  const house = { journal, transcripts, clock, log, disk, missingInodes, isFull }
  const runHousekeeping = createHousekeeping(retentionSettings(config), state, house)
  const retryingJournal = openRetryingJournal(journal, signer, {
    clock,
    log,
    isFull,
    makeRoom: runHousekeeping,
    openReserve: () => state.dropBallast(),
    closeReserve: () => state.retakeBallast(),
  })
  const garbage = new GarbageCollector(collectEveryBytes)
  const updates: GatewayUpdates = new GatewayUpdates(
    (id) => keeper.live.find(id)?.transcriptFacts ?? null,
    clock,
  )
  const keeper: Keeper = new Keeper(keeperSettings(config, policy.rules, containment), {
    ...supervisionEvents({
      log,
      updates,
      retryingJournal,
      metrics,
      ended: (ended) => audited.ended(ended),
      ruleDecided: (decided, decision) => audited.ruleDecided(decided, decision),
      reportGarbage: garbage.reportGarbage,
      bytesPerExecution: executionBytes[containment.mode],
    }),
    withReserve: retryingJournal.withReserve,
    withoutReserve: retryingJournal.withoutReserve,
    clock,
    spawner,
    transcripts,
    redaction,
    store: journal,
    programs: policy.programs,
    descriptors,
    freeInodes: () => state.freeInodes(),
    newId: () => executionIdFrom(randomBytes(16)),
    fingerprint,
    ...agentPorts(self),
    prepareStart: (...asked) => trials.prepareStart(...asked),
    whyNeeded: (id) => trials.whyNeeded(id),
    signalNumber,
  })
  const trials = openTrials(record, clock, {
    live: () => keeper.live,
    cancel: (supervision) => keeper.cancel(supervision, "disconnected"),
    withReserve: retryingJournal.withReserve,
    withoutReserve: retryingJournal.withoutReserve,
    judged(trial) {
      const { reasons, ...facts } = trial
      log.info({ ...facts, why: reasons[0] }, "trial judged")
      audited.judged(trial)
      metrics.judged(trial.verdict)
    },
  })
  const counting = metrics.noting(audit)
  const audited: AuditedKeeper = new AuditedKeeper(keeper, counting, clock, redaction)
  const deliveries = openDeliveries(config, record, {
    clock,
    log,
    audited,
    retryingJournal,
    updates,
  })
  return { keeper, audited, trials, deliveries, updates, retryingJournal, runHousekeeping }
}

function isJournalFull(error: unknown): boolean {
  return error instanceof JournalFullError
}
