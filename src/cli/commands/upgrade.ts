import { randomUUID } from "node:crypto"
import { resolve } from "node:path"
import type { UpgradeReport } from "../../protocol/upgrade.ts"
import { isSameProcess } from "../../service/os/proc.ts"
import { signalNumber, signalProcess } from "../../service/os/signals.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import { UpgradeFiles } from "../../service/storage/upgrade-files.ts"
import { flag, option } from "../arguments.ts"
import { command } from "../command.ts"
import { stateDirOption, statePaths } from "../connect/address.ts"
import { type RunningKeeper, runningKeeper } from "../connect/running-keeper.ts"
import { tryCommandLock } from "../connect/state-directory.ts"
import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"
import { spin } from "../terminal/spinner.ts"

const pollMs = 20
/** From one word of the service to its next; it says something whenever it goes on. */
const silenceMs = 60_000

export const upgradeCommand = command({
  usage: ["upgrade [OPTIONS]"],
  about: `\
Upgrades the running service to this program, or another, without ending anything: executions,
their terminals and the queue continue under the same pid. Clients are disconnected for a moment,
reconnect by themselves, and miss nothing. If the new program cannot take over, the old one
continues, and this says why.`,
  options: {
    to: option("FILE", "the program to upgrade to (default: this one)"),
    json: flag("one JSON document"),
    ...stateDirOption,
  },
  examples: {
    "after replacing this program with a newer one": "cc-executor upgrade",
    "to a program in another place": "cc-executor upgrade --to ./cc-executor-next",
  },
  async run(context, { values }) {
    const paths = statePaths(context, values["state-dir"])
    const keeper = runningKeeper(paths.lock)
    if (keeper === null) {
      await context.stderr.write(`No service is running for ${paths.directory}.\n`)
      return 0
    }
    if (!keeper.upgrades) throw tooOld(keeper)
    const program = values.to === undefined ? [...context.self] : [resolve(context.cwd, values.to)]
    const report = await upgrade(context, paths, keeper, program)
    const text = values.json === true ? JSON.stringify(report) : sentence(report)
    await context.stdout.write(`${text}\n`)
    return 0
  },
})

type Done = Extract<UpgradeReport, { phase: "done" }>

async function upgrade(
  context: Context,
  paths: StatePaths,
  keeper: RunningKeeper,
  program: string[],
): Promise<Done> {
  await using _spinner = spin(context, "upgrading the service…", 0)
  using _lock = await upgradeLock(paths.upgradeLock)
  return await askAndWait(new UpgradeFiles(paths.directory), keeper, program)
}

/** One after the other: each has a question of its own, and wants its answer. */
async function upgradeLock(path: string): Promise<Disposable> {
  const deadlineMs = performance.now() + silenceMs
  for (;;) {
    const lock = tryCommandLock(path)
    if (lock !== null) return lock
    if (performance.now() > deadlineMs) {
      const sinceS = silenceMs / 1000
      throw new CommandFailure(`Another upgrade has been running for ${sinceS} s. Try again later.`)
    }
    await Bun.sleep(pollMs)
  }
}

async function askAndWait(
  files: UpgradeFiles,
  keeper: RunningKeeper,
  program: string[],
): Promise<Done> {
  const name = randomUUID()
  if (!files.ask({ upgrade: name, program })) {
    throw new CommandFailure(
      "The state directory cannot be written, so the service cannot be asked to upgrade.",
    )
  }
  if (!signalProcess(keeper, signalNumber("SIGUSR2") ?? 12)) throw notReached(keeper)
  let heardMs = performance.now()
  let last: UpgradeReport["phase"] | null = null
  for (;;) {
    const report = files.reported(name)
    if (report?.phase === "done") return report
    if (report?.phase === "refused") throw new CommandFailure(report.why)
    if (report !== null && report.phase !== last) heardMs = performance.now()
    last = report?.phase ?? null
    if (!isSameProcess(keeper))
      throw new CommandFailure(`The service (pid ${keeper.pid}) has ended.`)
    if (performance.now() - heardMs > silenceMs) throw silent(keeper, last)
    await Bun.sleep(pollMs)
  }
}

function sentence({ from, to, pid, executions, queued, heldMs }: Done): string {
  const change = from === to ? `restarted in place as ${to}` : `upgraded from ${from} to ${to}`
  const ran = executions === 1 ? "1 execution continues" : `${executions} executions continue`
  const waited = queued === 0 ? "" : `, ${queued} still queued`
  const held = executions === 0 ? "" : `; output paused ${Math.round(heldMs)} ms`
  return `The service (pid ${pid}) was ${change}: ${ran}${waited}${held}.`
}

function tooOld({ pid, version }: RunningKeeper): CommandFailure {
  return new CommandFailure(
    `The service (pid ${pid}) is version ${version}, which cannot be upgraded in place. ` +
      "Stop it with `cc-executor stop`, which also ends its executions, then start the new one.",
  )
}

function notReached({ pid }: RunningKeeper): CommandFailure {
  return new CommandFailure(
    `The service (pid ${pid}) could not be signaled: it has ended, or belongs to another user.`,
  )
}

function silent({ pid }: RunningKeeper, phase: UpgradeReport["phase"] | null): CommandFailure {
  const since = phase === null ? "" : ` since "${phase}"`
  return new CommandFailure(
    `The service (pid ${pid}) has reported nothing for ${silenceMs / 1000} s${since}. ` +
      "See its log, or run `cc-executor doctor`.",
  )
}
