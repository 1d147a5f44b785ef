import { randomBytes } from "node:crypto"
import type { Config } from "../../../config/config.ts"
import { executionIdFrom } from "../../../execution/id.ts"
import type { Log } from "../../../lib/log.ts"
import { LoopLag } from "../../metrics/loop-lag.ts"
import { GarbageCollector } from "../../os/garbage-collector.ts"
import { signalNumber } from "../../os/signals.ts"
import { spawnGateway } from "../../os/spawn-gateway.ts"
import type { Forest } from "../../os/trees/forest.ts"
import { rememberTrees } from "../../os/trees/tree-memory.ts"
import { JournalFullError } from "../../storage/journal/journal-failure.ts"
import type { StateDirectory } from "../../storage/state-directory.ts"
import { startNote } from "../audit/audit-notes.ts"
import { AuditedKeeper } from "../audit/audited-keeper.ts"
import { GatewayProcess } from "../gateway-link/gateway-process.ts"
import { GatewayUpdates } from "../gateway-link/gateway-updates.ts"
import { createHousekeeping } from "../housekeeping/housekeeping.ts"
import { Keeper } from "../keeper.ts"
import { KeeperMetrics } from "../reports/keeper-metrics.ts"
import { keeperReport } from "../reports/keeper-report.ts"
import { openRetryingJournal, type RetryingJournal } from "../supervision/retrying-journal.ts"
import { supervisionEvents } from "../supervision/supervision-events.ts"
import { continueExecutions, handedOverBy, reportUpgrade } from "./continue-executions.ts"
import { openService } from "./open.ts"
import type { ServiceStorage } from "./open-storage.ts"
import type { ServeOptions } from "./options.ts"
import type { ProcessControl } from "./process-control.ts"
import { fingerprint, gatewaySettings, keeperSettings, retentionSettings } from "./settings.ts"
import { systemClock as clock } from "./system-clock.ts"
import { openUpgrades, watchUpgradeSignal } from "./upgrade.ts"
import { watchForShutdown } from "./watch-for-shutdown.ts"

const housekeepingMs = 30_000
const collectEveryBytes = 36 * 1024 * 1024
/** What an execution leaves behind, however little it wrote; to find trees, /proc is read often. */
const executionBytes = { cgroup: 512 * 1024, "best-effort": 1024 * 1024 }
const surveyMs = 1000
const idleCheckMs = 1000
const fullDiskCheckMs = 100

/** Runs the service until it is told to end; answers the exit code. */
export async function serve(config: Config, options: ServeOptions): Promise<number> {
  const { logger: log, say, receivedHandover } = options
  // From the first moment on: others know by the lock that it is understood.
  const upgradeSignal = watchUpgradeSignal()
  await using stack = new AsyncDisposableStack()
  // Before anything that was handed over is closed here.
  const returnToPrevious = (why: string) => receivedHandover?.returnUnlessAccepted(options.env, why)
  const opened = await openService(config, options, stack).catch((error: unknown) => {
    returnToPrevious(String(error))
    throw error
  })
  if (!opened.ok) {
    returnToPrevious(opened.failure)
    return refuse(say, opened.failure)
  }
  stack.defer(() => returnToPrevious("It failed before it could go on."))
  const { record, machine, lost, handover } = opened.value
  const { state, audit } = record

  const metrics = new KeeperMetrics(clock)
  for (const one of lost) metrics.changed(one)
  const running = runKeeper(config, record, machine, metrics, log)
  const { keeper, audited, retryingJournal, updates, runHousekeeping } = running
  let gatewayPid: number | null = null
  const remember = () => rememberTrees(state.path, machine.containment, machine.forest, gatewayPid)
  const { mode: containment } = machine.containment
  const facts = { version: options.version, containment, startedAt: record.startedAt }
  const report = keeperReport({
    keeper,
    metrics,
    lag: stack.use(new LoopLag()),
    recorded: record.transcripts.totals,
    bounds: keeperSettings(config, record.policy.rules, machine.containment),
    audit: () => audit.counts,
    disk: () => state.space(),
    unwrittenEnds: retryingJournal.unwrittenEnds,
    gatewayIsUnstable: () => gateway.isUnstable,
  })
  const gateway: GatewayProcess = new GatewayProcess({
    start: spawnGateway(options, machine.reaper, () => log.relay("gateway")),
    settings: gatewaySettings(config, facts, state, handover?.port ?? null),
    keeper,
    audited,
    updates,
    metrics,
    report,
    clock,
    log,
    onStarted(pid) {
      gatewayPid = pid
      remember()
    },
  })
  stack.defer(() => gateway.close())
  let port: number | null = handover?.port ?? null
  const shutdown = watchForShutdown({
    isIdle: () => isIdle(keeper, gateway),
    exitWhenIdleMs: config.exitWhenIdleMs,
    checkMs: idleCheckMs,
  })
  const service = { config, options, record, machine, clock, keeper, audited, retryingJournal }
  const upgrades = openUpgrades(
    { ...service, gateway, port: () => port, endSignal: shutdown.signal },
    upgradeSignal,
  )
  const continued = handover && continueExecutions(handover, keeper, options)
  const listening = await gateway.open()
  // Executions that were handed over must not end because nobody can connect: keep trying.
  if (!listening.ok && handover === null) return refuse(say, listening.failure.message)
  if (listening.ok) port = listening.value

  stack.use(every(housekeepingMs, log, runHousekeeping))
  stack.use(every(surveyMs, log, () => keeper.disk.needsTidying() && runHousekeeping()))
  stack.use(every(housekeepingMs, log, () => audit.sync()))
  stack.use(every(surveyMs, log, surveyOf(machine.forest, remember)))
  runHousekeeping()
  const policy = record.policy.rules().policy.kind
  const beginning = { containment, lost: lost.length }
  const started = { ...beginning, version: options.version, policy }
  const note = { ...started, ...handedOverBy(handover, receivedHandover) }
  audit.note(startNote(note, { hosts: config.hosts, port }))
  log.info({ ...beginning, stateDir: state.path, port }, "service ready")
  if (handover && continued) void reportUpgrade(handover, continued, options, state.path)
  say(readyLine(port, config, state))
  options.tellManager("READY=1")
  upgrades.ready()

  const why = await shutdown.end
  await upgrades.settled()
  log.info({ why: why.reason, executions: keeper.live.size }, "service shutting down")
  options.tellManager("STOPPING=1")
  gateway.drain()
  why.onSecondSignal(() => keeper.hurry())
  using _grace = clock.after(shutdownGraceMs(config), () => keeper.hurry())
  const isRecorded = await Promise.race([
    keeper.shutDown().then(() => true),
    untilOnlyTheDiskIsMissing(config, running).then(() => false),
  ])
  await gateway.close()
  audited.flush()
  const what = { why: why.reason, recorded: isRecorded }
  audit.note({ event: "service-ended", outcome: "happened", what })
  if (!isRecorded) log.error({ executions: keeper.live.size }, "disk full: ends are not journaled")
  log.info({}, "service ended")
  return isRecorded ? 0 : 1
}

type Running = {
  keeper: Keeper
  audited: AuditedKeeper
  updates: GatewayUpdates
  retryingJournal: RetryingJournal
  runHousekeeping: () => void
}

function runKeeper(
  config: Config,
  record: ServiceStorage,
  { containment, spawner }: ProcessControl,
  metrics: KeeperMetrics,
  log: Log,
): Running {
  const { state, policy, redaction, journal, audit, signer, transcripts } = record
  const isFull = isJournalFull
  const house = { journal, transcripts, clock, log, disk: () => keeper.disk, isFull }
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
    newId: () => executionIdFrom(randomBytes(16)),
    fingerprint,
    signalNumber,
  })
  const counting = metrics.noting(audit)
  const audited: AuditedKeeper = new AuditedKeeper(keeper, counting, clock, redaction)
  return { keeper, audited, updates, retryingJournal, runHousekeeping }
}

/** Once more after the last tree is gone: nothing of it is to be remembered. */
function surveyOf(forest: Forest, remember: () => void): () => void {
  let isAnyRemembered = false
  return () => {
    if (!forest.isEmpty || isAnyRemembered) remember()
    isAnyRemembered = !forest.isEmpty
  }
}

/** On a full disk an end waits for room; a service that must end does not wait with it. */
async function untilOnlyTheDiskIsMissing(
  config: Config,
  { keeper, retryingJournal }: Running,
): Promise<void> {
  await Bun.sleep(config.shutdownGraceMs)
  while (keeper.live.size > retryingJournal.unwrittenEnds()) await Bun.sleep(fullDiskCheckMs)
}

function refuse(say: (text: string) => void, why: string): number {
  say(`cc-executor: ${why}`)
  return 1
}

function readyLine(port: number | null, config: Config, state: StateDirectory): string {
  const [host = "127.0.0.1"] = config.hosts
  const scheme = config.tlsCert === null ? "ws" : "wss"
  const where =
    port === null ? `unix:${state.paths.socket}` : `${scheme}://${hostInUrl(host)}:${port}/ws/mcp`
  return `cc-executor: listening on ${where} (state in ${state.path})`
}

function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host
}

/** SIGKILL must come early enough for its own limit to fit into what containers allow. */
function shutdownGraceMs(config: Config): number {
  return Math.max(0, config.shutdownGraceMs - 1000)
}

function isIdle(keeper: Keeper, gateway: GatewayProcess): boolean {
  return keeper.live.size === 0 && gateway.connections === 0
}

function isJournalFull(error: unknown): boolean {
  return error instanceof JournalFullError
}

/** What fails once, for want of descriptors or space say, may work the next time. */
function every(periodMs: number, log: Log, run: () => unknown): Disposable {
  const attempt = () => {
    try {
      run()
    } catch (error) {
      log.error({ err: error }, "housekeeping failed")
    }
  }
  const timer = setInterval(attempt, periodMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
