import { readSync } from "node:fs"
import { checkOwnedFile, openOrCreateOwned, openOwned } from "../../lib/owned-file.ts"
import { isFileTrouble } from "../../lib/untrusted-file.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"
import { spin } from "../terminal/spinner.ts"
import { isThere } from "./local-listener.ts"
import { runningKeeper } from "./running-keeper.ts"
import { ownScope, serviceEnvironment } from "./service-environment.ts"
import { makeStateDirectory, tryCommandLock } from "./state-directory.ts"

const limitMs = 15_000
const pollMs = 5
const idleLimit = "10m"

/** Comes back when the local service answers; starts it when there is none, as tmux does. */
export async function startIfNeeded(
  context: Context,
  paths: StatePaths,
  flags: readonly string[] = [],
): Promise<void> {
  await using _spinner = spin(context, "starting the service…")
  const deadlineMs = performance.now() + limitMs
  makeStateDirectory(paths.directory)
  using lock = await startLock(paths, deadlineMs)
  if (lock === null) return
  if (await existingAnswers(paths, deadlineMs)) return
  await start(context, paths, flags, deadlineMs)
}

/** Comes back when no command is just starting a service there. Makes nothing. */
export async function untilNobodyStarts(paths: StatePaths): Promise<void> {
  try {
    if (!checkOwnedFile(paths.startLock)) return
    using _lock = await startLock(paths, performance.now() + limitMs)
  } catch (error) {
    if (!isFileTrouble(error)) throw error // a service that starts says what is wrong there
  }
}

/** Null when somebody else has started the service meanwhile. */
async function startLock(paths: StatePaths, deadlineMs: number): Promise<Disposable | null> {
  for (;;) {
    const lock = tryCommandLock(paths.startLock)
    if (lock !== null) return lock
    if (await isThere(paths)) return null
    if (performance.now() > deadlineMs) {
      throw new CommandFailure(
        `Another command has been starting the service for ${limitMs / 1000} s. ` +
          `See ${paths.log}, or run \`cc-executor doctor\`.`,
      )
    }
    await Bun.sleep(pollMs)
  }
}

/** One that starts, or whose gateway comes back, is waited for; one that ends, until it has. */
async function existingAnswers(paths: StatePaths, deadlineMs: number): Promise<boolean> {
  for (;;) {
    if (await isThere(paths)) return true
    const keeper = runningKeeper(paths.lock)
    if (keeper === null) return false
    if (performance.now() > deadlineMs) {
      throw new CommandFailure(
        `The service (pid ${keeper.pid}) does not answer on ${paths.socket}. ` +
          "See its log, or end it with `cc-executor stop`.",
      )
    }
    await Bun.sleep(pollMs)
  }
}

async function start(
  context: Context,
  paths: StatePaths,
  flags: readonly string[],
  deadlineMs: number,
): Promise<void> {
  using log = openOrCreateOwned(paths.log, "append")
  const loggedBytes = log.stat.size
  const service = Bun.spawn(await serviceCommand(context, paths, flags), {
    detached: true,
    cwd: "/", // it outlives this command, and must not keep a file system busy
    env: serviceEnvironment(context.env),
    stdin: "ignore",
    stdout: "ignore",
    stderr: log.fd, // what it says before it has opened its log
  })
  service.unref()
  for (;;) {
    const hasExited = service.exitCode !== null || service.signalCode !== null
    if (await isThere(paths)) return
    const isLate = performance.now() > deadlineMs
    if (hasExited || isLate) {
      const what = hasExited ? "ended at once" : `did not answer within ${limitMs / 1000} s`
      throw new CommandFailure(
        `The service was started, but ${what}. ${lastWords(paths.log, loggedBytes)}`,
      )
    }
    await Bun.sleep(pollMs)
  }
}

async function serviceCommand(
  context: Context,
  paths: StatePaths,
  flags: readonly string[],
): Promise<string[]> {
  // Loaded when it is needed: a command that finds a service has no use for all the settings.
  const { backgroundArguments, checkVariables } = await import("./background-arguments.ts")
  checkVariables(context)
  const settings = ["--port=none", `--exit-when-idle=${idleLimit}`, `--log-file=${paths.log}`]
  const args = backgroundArguments(context, {}, paths, [...settings, ...flags])
  return [...(await ownScope(context.env)), ...context.self, ...args]
}

const shownLines = 10
const shownBytes = 64 * 1024

function textAfter(path: string, fromByte: number): string {
  using file = openOwned(path, "read")
  const bytes = Buffer.alloc(Math.min(Math.max(0, file.stat.size - fromByte), shownBytes))
  const length = readSync(file.fd, bytes, 0, bytes.length, file.stat.size - bytes.length)
  return bytes.subarray(0, length).toString("utf8")
}

function lastWords(path: string, fromByte: number): string {
  const said = textAfter(path, fromByte).trim()
  if (said === "") return `Its log ${path} is empty; try \`cc-executor serve\`.`
  const lines = said.split("\n").slice(-shownLines)
  return `Its last log lines, from ${path}:\n  ${lines.join("\n  ")}`
}
