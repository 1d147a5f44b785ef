import { openSync, readFileSync } from "node:fs"
import type { Config } from "../../../config/config.ts"
import type { HandedExecutions, Handover } from "../../../protocol/handover.ts"
import { handoverFormat } from "../../../protocol/handover.ts"
import type { UpgradeRequest } from "../../../protocol/upgrade.ts"
import { runToEnd } from "../../os/children/run-to-end.ts"
import { getRlimit, RLIMIT_NOFILE } from "../../os/libc.ts"
import { ownDescriptors } from "../../os/own-descriptors.ts"
import { isAlive, readStat } from "../../os/proc.ts"
import { holdEndSignals } from "../../os/program-change.ts"
import { spawnWatchdog } from "../../os/spawn-watchdog.ts"
import { journalVersion } from "../../storage/journal/migrations.ts"
import { stateSchema } from "../../storage/state-schema.ts"
import { UpgradeFiles } from "../../storage/upgrade-files.ts"
import type { AuditedKeeper } from "../audit/audited-keeper.ts"
import type { GatewayProcess } from "../gateway-link/gateway-process.ts"
import type { Keeper } from "../keeper.ts"
import type { Clock } from "../ports.ts"
import { nextTurn } from "../sleep.ts"
import type { RetryingJournal } from "../supervision/retrying-journal.ts"
import { checkProgram, Upgrades } from "../upgrade/upgrades.ts"
import { whyServiceCannotReopen } from "./open.ts"
import type { ServiceStorage } from "./open-storage.ts"
import type { ServeOptions } from "./options.ts"
import type { ProcessControl } from "./process-control.ts"
import { handOverTo } from "./receive-handover.ts"

export type UpgradableService = {
  config: Config
  options: ServeOptions
  record: ServiceStorage
  machine: ProcessControl
  clock: Clock
  keeper: Keeper
  audited: AuditedKeeper
  retryingJournal: RetryingJournal
  gateway: GatewayProcess
  port: () => number | null
  endSignal: () => Handover["endSignal"]
}

/** However soon the next program must have taken over. */
const leastWatchdogMs = 10_000

/** What SIGUSR2 asks for, also before there is anything to upgrade. Without it, it would kill. */
export type UpgradeSignal = { isReceived: boolean; received: () => void }

export function watchUpgradeSignal(): UpgradeSignal {
  const signal: UpgradeSignal = { isReceived: false, received: () => undefined }
  process.on("SIGUSR2", () => {
    signal.isReceived = true
    signal.received()
  })
  return signal
}

/** From now on SIGUSR2 changes the program of this process, and nothing else. */
export function openUpgrades(service: UpgradableService, signal: UpgradeSignal): Upgrades {
  const { options, record, machine, keeper, audited, gateway } = service
  const { logger: log, self, args, env } = options
  const files = new UpgradeFiles(record.state.path)
  // Opened now: whatever becomes of the file, this is the program that runs.
  const programFd = openSync("/proc/self/exe", "r")
  const own = { version: options.version, state: stateSchema, journal: journalVersion }
  const upgrades = new Upgrades({
    clock: service.clock,
    log,
    live: keeper.live,
    holdStarts: (isHeld) => keeper.holdStarts(isHeld),
    takeRequest: () => files.takeRequest() ?? { upgrade: "signal", program: [...self] },
    report: (report) => files.report(report),
    check: (request, isGivenUp) =>
      checkProgram(request, own, (argv, limitMs) =>
        runToEnd(argv, env, machine, { limitMs, isGivenUp }),
      ),
    whyGivenUp: (request) => whyGivenUp(service, request),
    blocker: () => upgradeBlocker(service),
    async watch(takeOverMs) {
      // Where the next program may take its time to begin, so may this one.
      const limits = { startMs: Math.max(leastWatchdogMs, takeOverMs), takeOverMs }
      const watched = await spawnWatchdog(options, machine.reaper, limits)
      return watched.ok ? null : watched.failure
    },
    async closeGateway() {
      await gateway.close()
      audited.handOver()
      record.audit.sync()
      await log.flush()
    },
    async holdEndSignals() {
      holdEndSignals()
      // What Bun had caught before is told to its listeners in one of the next turns.
      for (let turn = 0; turn < 3; turn += 1) await nextTurn()
    },
    change: (request, executions) =>
      handOverTo(request.program, request.args ?? args, handoverOf(service, request, executions), {
        programFd,
        self,
        args,
        env,
      }),
  })
  // Of the program before this one something may have been asked while it was about to hand over;
  // of a service that is dead, in vain.
  const isLeftOver = files.isAsked && options.receivedHandover !== null
  if (!isLeftOver && !signal.isReceived) files.takeRequest()
  if (isLeftOver || signal.isReceived) upgrades.begin()
  signal.received = () => upgrades.begin()
  return upgrades
}

function handoverOf(
  { options, record, machine, port, endSignal }: UpgradableService,
  { upgrade }: UpgradeRequest,
  executions: HandedExecutions,
): Handover {
  const { mode, why, cgroupBase, holders } = machine.containment
  return {
    format: handoverFormat,
    version: options.version,
    upgrade,
    uptimeMs: machineUptimeMs(),
    startedAt: record.startedAt,
    port: port(),
    lockFd: record.state.lockFd,
    redaction: record.redaction?.fingerprint ?? null,
    // Executions stay where they are.
    containment: { mode, why, cgroupBase, holders, forest: machine.forest.handOver() },
    endSignal: endSignal(),
    ...executions,
  }
}

/** The clock that goes on while the program changes. */
export function machineUptimeMs(): number {
  return Number(readFileSync("/proc/uptime", "latin1").split(" ")[0]) * 1000
}

/** Why nobody wants an upgrade any more that was asked for; null when somebody does. */
function whyGivenUp(
  { endSignal }: UpgradableService,
  { asker, args }: UpgradeRequest,
): string | null {
  if (endSignal() !== null) return "The service is shutting down."
  if (asker === undefined) return null
  const stat = readStat(asker.pid)
  const isThere = isAlive(stat) && stat.startTicks === asker.startTicks
  const command = args === undefined ? "upgrade" : "serve"
  return isThere ? null : `\`cc-executor ${command}\` was interrupted.`
}

/** Everything that would also keep this program from going on, should the next one not. */
function upgradeBlocker(service: UpgradableService): string | null {
  const { config, options, record, retryingJournal } = service
  if (retryingJournal.unwrittenEnds() > 0) {
    return "The disk is full, and ended executions are not yet recorded: free some space first."
  }
  return tooFewDescriptors(service) ?? whyServiceCannotReopen(config, options, record)
}

/** Every pipe is taken over by a descriptor of its own before the others are closed. */
function tooFewDescriptors({ keeper }: UpgradableService): string | null {
  const limit = getRlimit(process.pid, RLIMIT_NOFILE)?.soft ?? 0n
  const needed = ownDescriptors().length + 3 * keeper.live.size + spareDescriptors
  if (limit === 0n || BigInt(needed) < limit) return null
  return `It needs ${needed} open files, but the limit is ${limit} (ulimit -n): raise it first.`
}

const spareDescriptors = 32
