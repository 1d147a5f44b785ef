import { openSync, readFileSync } from "node:fs"
import { UpgradeFiles } from "../files/upgrade-files.ts"
import { journalVersion } from "../journal/migrations.ts"
import type { HandedExecutions, Handover } from "../protocol/handover.ts"
import { handoverFormat } from "../protocol/handover.ts"
import type { UpgradeRequest } from "../protocol/upgrade.ts"
import type { AuditedKeeper } from "./audited-keeper.ts"
import { checkProgram, type RunProgram } from "./check-program.ts"
import type { EnduringJournal } from "./enduring-journal.ts"
import type { GatewayProcess } from "./gateway-process.ts"
import type { Keeper } from "./keeper.ts"
import type { Clock } from "./ports.ts"
import type { Machine } from "./serve-machine.ts"
import type { ServeOptions } from "./serve-options.ts"
import type { ServiceRecord } from "./serve-record.ts"
import { handOverTo } from "./serve-take-over.ts"
import { stateSchema } from "./state-schema.ts"
import { Upgrades } from "./upgrades.ts"

/** What an upgrade takes from a service that runs. */
export type UpgradableService = {
  options: ServeOptions
  record: ServiceRecord
  machine: Machine
  clock: Clock
  keeper: Keeper
  audited: AuditedKeeper
  enduring: EnduringJournal
  gateway: GatewayProcess
  port: () => number | null
  endSignal: () => Handover["endSignal"]
}

/** From now on SIGUSR2 changes the program of this process, and nothing else. */
export function upgradeAtSignal(service: UpgradableService, owner: AsyncDisposableStack): Upgrades {
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
    check: (program) => checkProgram(program, own, runProgram(options, machine)),
    hindrance: () => hindrance(service),
    async closeDoors() {
      await gateway.close()
      audited.handOver()
      record.audit.sync()
      await log.flush()
    },
    change: (request, executions) =>
      handOverTo(request.program, args, handoverOf(service, request, executions), {
        programFd,
        self,
        env,
      }),
  })
  const begin = () => upgrades.begin()
  process.on("SIGUSR2", begin)
  owner.defer(() => void process.off("SIGUSR2", begin))
  // Asked of the program before this one while it was about to hand over, or of a dead one.
  if (options.takeOver === null) files.takeRequest()
  else if (files.isAsked) begin()
  return upgrades
}

function handoverOf(
  { options, record, machine, port, endSignal }: UpgradableService,
  { upgrade }: UpgradeRequest,
  executions: HandedExecutions,
): Handover {
  return {
    format: handoverFormat,
    version: options.version,
    upgrade,
    uptimeMs: machineUptimeMs(),
    startedAt: record.startedAt,
    port: port(),
    lockFd: record.state.lockFd,
    redaction: record.redaction?.fingerprint ?? null,
    containment: machine.containment.handOver(),
    endSignal: endSignal(),
    ...executions,
  }
}

/** The clock that goes on while the program changes. */
export function machineUptimeMs(): number {
  return Number(readFileSync("/proc/uptime", "latin1").split(" ")[0]) * 1000
}

function hindrance({ enduring, endSignal }: UpgradableService): string | null {
  if (endSignal() !== null) return "The service is shutting down."
  if (enduring.waitingEnds() === 0) return null
  return "The disk is full, and ends of executions wait to be written: free some space first."
}

function runProgram({ env }: ServeOptions, { reaper }: Machine): RunProgram {
  return async (argv, limitMs) => {
    try {
      const child = Bun.spawn([...argv], {
        env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "ignore",
        timeout: limitMs,
        killSignal: "SIGKILL",
      })
      reaper.isMine(child.pid, child.exited)
      const [text] = await Promise.all([child.stdout.text(), child.exited])
      return child.signalCode === null ? { exitCode: child.exitCode, text } : null
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) }
    }
  }
}
