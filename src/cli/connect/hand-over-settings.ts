import { readFileSync } from "node:fs"
import { loadStateDir } from "../../config/state-dir.ts"
import type { Listening } from "../../protocol/upgrade.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"
import { continuedText, type HandedOver, requestHandover } from "./request-handover.ts"
import type { RunningKeeper } from "./running-keeper.ts"

const takeOverMs = 30_000

/** Gives a service in the background other settings; what it says of it is for people. */
export async function handOverSettings(
  context: Context,
  paths: StatePaths,
  keeper: RunningKeeper,
  args: string[],
  log: string,
): Promise<void> {
  const wanted = { program: [...context.self], args, takeOverMs }
  const report = await requestHandover(context, paths, keeper, wanted)
  if (report.phase === "refused") {
    throw new CommandFailure(
      `${report.tookBack ?? report.why} The service in the background (pid ${keeper.pid}) ` +
        "continues with the settings it had.",
    )
  }
  for (const text of report.said ?? []) await context.stderr.write(`${text}\n`)
  const { listening = { kind: "socket", path: paths.socket } } = report
  if (listening.kind === "failed") throw notListening(keeper, listening.why)
  await context.stdout.write(`${sentence(report, listening)}\n${advice(context, paths, log)}\n`)
}

function sentence(
  { pid, executions, queued }: HandedOver,
  listening: Exclude<Listening, { kind: "failed" }>,
): string {
  const where = listening.kind === "port" ? listening.url : `unix:${listening.path}`
  return (
    `The service that was already running in the background (pid ${pid}) took over these ` +
    `settings and listens on ${where}; ${continuedText(executions, queued)}.`
  )
}

function advice(context: Context, paths: StatePaths, log: string): string {
  const stop = stopCommand(context, paths)
  return `It stays in the background: \`${stop}\` ends it. Its log is ${log}.`
}

/** A directory that commands find by themselves needs no name. */
function stopCommand({ env, home }: Context, { directory }: StatePaths): string {
  const found = loadStateDir({ flag: undefined, env, home })
  const isFound = found.ok && found.value === directory
  return isFound ? "cc-executor stop" : `cc-executor stop --state-dir ${directory}`
}

function notListening({ pid }: RunningKeeper, why: string): CommandFailure {
  return new CommandFailure(
    `The service in the background (pid ${pid}) took over these settings, but clients cannot ` +
      `connect yet: ${why} It keeps trying.`,
  )
}

/** Why a service keeps the settings it has, and what to do to have it run with others. */
export function settingsStay(
  context: Context,
  paths: StatePaths,
  keeper: RunningKeeper,
): CommandFailure {
  const stop = `\`${stopCommand(context, paths)}\``
  const { pid, startedBy, version } = keeper
  const inUse = `The state directory ${paths.directory} is in use by`
  const beside = "or choose another directory with --state-dir to run a second service."
  switch (startedBy) {
    case "manager":
      return new CommandFailure(
        `${inUse} a service that a service manager started (pid ${pid}). Its settings stay as ` +
          `they are: to change them, edit its unit and run \`${restartCommand(pid)}\`, which ` +
          `ends its executions; ${beside}`,
      )
    case "person":
      return new CommandFailure(
        `${inUse} a service that was started with \`cc-executor serve\` (pid ${pid}). Its ` +
          `settings stay as they are: to change them, run ${stop}, which ends its executions, ` +
          `and then this command again; ${beside}`,
      )
    case "command":
      return new CommandFailure(
        `${inUse} a service in the background (pid ${pid}), and a service manager needs a ` +
          `process of its own: end that one with ${stop}, which ends its executions; ${beside}`,
      )
    case undefined:
      return new CommandFailure(
        `${inUse} a service of version ${version} (pid ${pid}), which cannot take over other ` +
          `settings: end it with ${stop}, which ends its executions, and run this command ` +
          `again; ${beside}`,
      )
  }
}

function restartCommand(pid: number): string {
  const { unit, isUsers } = unitIn(readFileSync(`/proc/${pid}/cgroup`, "utf8"))
  return `systemctl ${isUsers ? "--user " : ""}restart ${unit}`
}

/** The unit by what /proc/PID/cgroup says: the innermost one on the way there. */
export function unitIn(cgroups: string): { unit: string; isUsers: boolean } {
  const names = cgroups.split(/[/\n]/)
  const unit = names.findLast((name) => name.endsWith(".service")) ?? "cc-executor"
  const isUsers = names.some((name) => name.startsWith("user@") && name !== unit)
  return { unit, isUsers }
}
