import { randomUUID } from "node:crypto"
import type { UpgradeReport, UpgradeRequest } from "../../protocol/upgrade.ts"
import { isSameProcess, readStat } from "../../service/os/proc.ts"
import { signalNumber, signalProcess } from "../../service/os/signals.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import { UpgradeFiles } from "../../service/storage/upgrade-files.ts"
import type { Context } from "../context.ts"
import { CommandFailure, orFail } from "../failure.ts"
import { spin } from "../terminal/spinner.ts"
import type { RunningKeeper } from "./running-keeper.ts"
import { tryCommandLock } from "./state-directory.ts"

export type HandedOver = Extract<UpgradeReport, { phase: "done" }>
export type NotHandedOver = Extract<UpgradeReport, { phase: "refused" }>

type Wanted = Pick<UpgradeRequest, "program" | "args"> & { takeOverMs: number }

const pollMs = 20
/** From one word of the service to its next; it says something whenever it goes on. */
const silenceMs = 60_000

/** Has a service become another program, or the same with other settings; answers how it went. */
export async function requestHandover(
  context: Context,
  paths: StatePaths,
  keeper: RunningKeeper,
  wanted: Wanted,
): Promise<HandedOver | NotHandedOver> {
  const what = wanted.args === undefined ? "upgrading the service…" : "handing over the settings…"
  await using _spinner = spin(context, what, 0)
  using _lock = await upgradeLock(paths.upgradeLock)
  return await askAndWait(new UpgradeFiles(paths.directory), keeper, wanted)
}

export function continuedText(executions: number, queued: number): string {
  const ran = executions === 1 ? "1 execution continues" : `${executions} executions continue`
  return queued === 0 ? ran : `${ran}, ${queued} still queued`
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
  wanted: Wanted,
): Promise<HandedOver | NotHandedOver> {
  const name = randomUUID()
  const asker = { pid: process.pid, startTicks: readStat(process.pid)?.startTicks ?? 0 }
  orFail(
    () => files.ask({ upgrade: name, asker, ...wanted }),
    (errno) => `The service cannot be asked: its state directory cannot be written (${errno}).`,
  )
  if (!signalProcess(keeper, signalNumber("SIGUSR2") ?? 12)) throw notReached(keeper)
  let heardMs = performance.now()
  let last: UpgradeReport["phase"] | null = null
  for (;;) {
    const report = files.reported(name)
    if (report?.phase === "done" || report?.phase === "refused") return report
    if (report !== null && report.phase !== last) heardMs = performance.now()
    last = report?.phase ?? null
    if (!isSameProcess(keeper))
      throw new CommandFailure(`The service (pid ${keeper.pid}) has ended.`)
    const quietMs = silenceMs + wanted.takeOverMs
    if (performance.now() - heardMs > quietMs) throw silent(keeper, last, quietMs)
    await Bun.sleep(pollMs)
  }
}

function notReached({ pid }: RunningKeeper): CommandFailure {
  return new CommandFailure(
    `The service (pid ${pid}) could not be signaled: it has ended, or belongs to another user.`,
  )
}

function silent(
  { pid }: RunningKeeper,
  phase: UpgradeReport["phase"] | null,
  quietMs: number,
): CommandFailure {
  const since = phase === null ? "" : ` since "${phase}"`
  return new CommandFailure(
    `The service (pid ${pid}) has reported nothing for ${quietMs / 1000} s${since}. ` +
      "See its log, or run `cc-executor doctor`.",
  )
}
