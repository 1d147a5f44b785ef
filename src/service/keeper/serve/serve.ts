import type { Config } from "../../../config/config.ts"
import { fail } from "../../../lib/result.ts"
import { UntrustedFileError } from "../../../lib/untrusted-file.ts"
import { LoopLag } from "../../metrics/loop-lag.ts"
import { spawnGateway } from "../../os/spawn-gateway.ts"
import { rememberTrees } from "../../os/trees/tree-memory.ts"
import { startNote } from "../audit/audit-notes.ts"
import { GatewayProcess } from "../gateway-link/gateway-process.ts"
import type { Keeper } from "../keeper.ts"
import { KeeperMetrics } from "../reports/keeper-metrics.ts"
import { keeperReport } from "../reports/keeper-report.ts"
import { doneUnlessShort } from "../shortages.ts"
import {
  type ContinuedExecutions,
  continueExecutions,
  handedOverBy,
  reportUpgrade,
} from "./continue-executions.ts"
import { fewDescriptorsWarning } from "./few-descriptors.ts"
import { listeningAt, readyLine } from "./listening-at.ts"
import { openService } from "./open.ts"
import type { ServeOptions } from "./options.ts"
import { every, needsTidying, surveyOf } from "./regular-work.ts"
import { type Running, runKeeper } from "./run-keeper.ts"
import { openSessions } from "./sessions.ts"
import { gatewaySettings, keeperSettings } from "./settings.ts"
import { serviceClock } from "./system-clock.ts"
import { openUpgrades, watchUpgradeSignal } from "./upgrade.ts"
import { watchForShutdown } from "./watch-for-shutdown.ts"

const housekeepingMs = 30_000
const surveyMs = 1000
const idleCheckMs = 1000
const fullDiskCheckMs = 100

/** Runs the service until it is told to end; answers the exit code. */
export async function serve(config: Config, given: ServeOptions): Promise<number> {
  const said: string[] = []
  const say = (text: string) => {
    said.push(text)
    given.say(text)
  }
  const options = { ...given, say }
  const { logger: log, receivedHandover } = options
  const clock = serviceClock(log)
  // From the first moment on: others know by the lock that it is understood.
  const upgradeSignal = watchUpgradeSignal()
  await using stack = new AsyncDisposableStack()
  // Before anything that was handed over is closed here.
  const returnToPrevious = (why: string) => receivedHandover?.returnUnlessAccepted(options.env, why)
  const opened = await openService(config, options, stack).catch((error: unknown) => {
    returnToPrevious(String(error))
    if (error instanceof UntrustedFileError) return fail(error.message)
    throw error
  })
  if (!opened.ok) {
    returnToPrevious(opened.failure)
    return refuse(say, opened.failure)
  }
  let whyNotAccepted = "It failed before it could go on."
  stack.defer(() => returnToPrevious(whyNotAccepted))
  const { record, machine, lost, handover } = opened.value
  const { state, audit } = record

  const { limit } = machine.descriptors
  const fewDescriptors = fewDescriptorsWarning(limit, config)
  if (fewDescriptors !== null) {
    log.warn({ limit, why: fewDescriptors }, "too few file descriptors for the settings")
    say(`cc-executor: ${fewDescriptors}`)
  }
  const metrics = new KeeperMetrics(clock)
  for (const one of lost) metrics.changed(one)
  const running = runKeeper(config, record, machine, metrics, clock, options)
  const { keeper, audited, trials, deliveries, retryingJournal, updates } = running
  const { runHousekeeping } = running
  let gatewayPid: number | null = null
  const remembered = { isOutdated: false }
  const remember = () => {
    remembered.isOutdated = true
    rememberTrees(state.path, machine.containment, machine.forest, gatewayPid)
    remembered.isOutdated = false
  }
  const { mode: containment } = machine.containment
  const { startedAt } = record
  const policy = record.policy.rules().policy.kind
  const { version, self } = options
  const facts = { version, startedAt, containment: machine.containment, policy, self }
  const report = keeperReport({
    keeper,
    metrics,
    lag: stack.use(new LoopLag()),
    recorded: record.transcripts.totals,
    bounds: keeperSettings(config, record.policy.rules, machine.containment),
    audit: () => audit.counts,
    deliveries: () => deliveries.metrics(),
    disk: () => state.space(),
    unwrittenEnds: retryingJournal.unwrittenEnds,
    gatewayIsUnstable: () => gateway.isUnstable,
  })
  const settings = gatewaySettings(config, facts, state, handover?.port ?? null, record.notify)
  const gatewayOptions = {
    start: spawnGateway(options, machine.reaper, () => log.relay("gateway")),
    settings,
    keeper,
    audited,
    ...openSessions(running, config, record, machine, metrics, options.self),
    trials,
    deliveries,
    updates,
    metrics,
    report,
    clock,
    log,
    onStarted(pid: number | null) {
      gatewayPid = pid
      doneUnlessShort(log, "the gateway is remembered", remember)
    },
  }
  const gateway: GatewayProcess = new GatewayProcess(
    gatewayOptions,
    handover === null ? "at once" : "when told",
  )
  stack.defer(() => gateway.close())
  let port = handover === null ? null : config.port && settings.listen.port
  const shutdown = watchForShutdown({
    isIdle: () => isIdle(keeper, gateway) && !deliveries.areFresh,
    exitWhenIdleMs: config.exitWhenIdleMs,
    checkMs: idleCheckMs,
  })
  const service = { config, options, record, machine, clock, keeper, audited, retryingJournal }
  const upgrades = openUpgrades(
    { ...service, gateway, port: () => port, endSignal: shutdown.signal },
    upgradeSignal,
  )
  // Everything that can fail, and that can be taken back, comes before the point of no return.
  const canGoBack = receivedHandover?.canGoBack ?? false
  let continued: ContinuedExecutions | null = null
  let listening: Awaited<ReturnType<GatewayProcess["open"]>>
  try {
    if (handover !== null) keeper.adopt(handover, canGoBack)
    listening = await gateway.open()
    if (listening.ok) port = listening.value
    // Executions that were handed over must not end because nobody can connect: keep trying.
    else if (handover === null || canGoBack) {
      whyNotAccepted = listening.failure.message
      return refuse(say, whyNotAccepted)
    }
    if (handover !== null) {
      continued = continueExecutions(handover, keeper, record, machine, options)
      gateway.admit()
    }
  } catch (error) {
    whyNotAccepted = String(error)
    throw error
  }

  stack.use(every(housekeepingMs, log, runHousekeeping))
  stack.use(every(surveyMs, log, () => needsTidying(keeper) && runHousekeeping()))
  stack.use(every(housekeepingMs, log, () => audit.sync()))
  if (record.notify !== null) stack.use(every(housekeepingMs, log, () => deliveries.tidy()))
  stack.use(every(surveyMs, log, () => keeper.startQueued()))
  stack.use(every(surveyMs, log, surveyOf(machine.forest, remember, remembered)))
  doneUnlessShort(log, "the first housekeeping", runHousekeeping)
  stack.use(trials).resume()
  const beginning = { containment, lost: lost.length }
  const started = { ...beginning, version, policy }
  const note = { ...started, ...handedOverBy(handover, receivedHandover) }
  audit.note(startNote(note, { hosts: config.hosts, port }))
  log.info({ ...beginning, stateDir: state.path, port }, "service ready")
  if (handover && continued) {
    const where = listeningAt(listening, config, state)
    const told = { listening: where, said: [...said] }
    void reportUpgrade(handover, continued, options, state.path, told)
  }
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

/** SIGKILL must come early enough for its own limit to fit into what containers allow. */
function shutdownGraceMs(config: Config): number {
  return Math.max(0, config.shutdownGraceMs - 1000)
}

function isIdle(keeper: Keeper, gateway: GatewayProcess): boolean {
  return keeper.live.size === 0 && gateway.connections === 0
}
