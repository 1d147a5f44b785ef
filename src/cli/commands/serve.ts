import { basename, dirname, join } from "node:path"
import { parseArgs } from "node:util"
import { type Config, type ConfigSources, configWarnings, loadConfig } from "../../config/config.ts"
import { settings } from "../../config/settings.ts"
import type { LogDestination } from "../../log/destination.ts"
import { createLogger, renderingFor } from "../../log/log.ts"
import { openRotatingFile } from "../../log/rotating-file.ts"
import { standardOutput } from "../../log/standard-output.ts"
import { isUnderManager } from "../../service/os/notify-systemd.ts"
import { makeOwnDirectory } from "../../service/storage/locate-state-directory.ts"
import type { StartedBy } from "../../service/storage/lock-text.ts"
import { type StatePaths, statePathsIn } from "../../service/storage/state-paths.ts"
import { asksForHelp, helpOption, type OptionTable } from "../arguments.ts"
import type { Command } from "../command.ts"
import { untilNobodyStarts } from "../connect/auto-start.ts"
import { backgroundArguments } from "../connect/background-arguments.ts"
import { handOverSettings, settingsStay } from "../connect/hand-over-settings.ts"
import { type RunningKeeper, runningKeeper } from "../connect/running-keeper.ts"
import type { Context } from "../context.ts"
import { asSentence, CommandFailure, UsageFailure } from "../failure.ts"

export const serveCommand: Command = {
  help: {
    usage: ["serve [OPTIONS]"],
    about: `\
Runs until SIGTERM or SIGINT, then stops every execution with a receipt. A second signal skips the
grace period. Every option has a variable: --log-level is CC_EXECUTOR_LOG_LEVEL. Other commands
start a service by themselves if none is running. Where such a one runs in the background, this
gives it these settings and its port, without ending anything it runs, and exits.`,
    options: { ...settingOptions(), ...helpOption },
    examples: {
      "on ws://127.0.0.1:8003/ws/mcp": "cc-executor serve",
      "on a unix socket only, with a timeout of two hours":
        "cc-executor serve --port none --timeout 2h",
    },
  },
  failureExitCode: 1,
  asksForHelp: (argv) => asksForHelp(argv, settingOptions(), false),
  execute: serve,
}

function settingOptions(): OptionTable {
  return Object.fromEntries(
    settings.map((setting) => [
      setting.flag.slice(2),
      {
        type: setting.flagAlone ? "boolean" : "string",
        value: setting.placeholder,
        about: `${setting.description} [${setting.defaultText}]`,
        ...(setting.group === "Fleet" && { heading: "As a node of a fleet (docs/fleet.md)" }),
      } as const,
    ]),
  )
}

async function serve(context: Context, argv: readonly string[]): Promise<number> {
  const flags = readFlags(argv)
  const config = readConfig({ flags, env: context.env, home: context.home })
  for (const { message } of configWarnings(context.env)) {
    await context.stderr.write(`cc-executor: ${message}\n`)
  }
  // First of all: nothing is written for a directory that is not to be used.
  const paths = statePathsIn(ownDirectory(config))
  const startedBy = isUnderManager(context.env) ? "manager" : "person"
  const keeper = await otherKeeper(paths)
  if (keeper === null) return runService(context, config, paths.directory, startedBy)
  if (keeper.startedBy !== "command" || startedBy === "manager") {
    throw settingsStay(context, paths, keeper)
  }
  if (config.logFile !== null) {
    await logDestination(config, paths.directory)[Symbol.asyncDispose]() // says what is wrong
  }
  const log = config.logFile ?? paths.log // standard output is nowhere in the background
  const args = backgroundArguments(context, flags, paths, [`--log-file=${log}`])
  await handOverSettings(context, paths, keeper, args, log)
  return 0
}

/** The service that has the directory already; in an upgrade, that is this very process. */
async function otherKeeper(paths: StatePaths): Promise<RunningKeeper | null> {
  // Not to be waited for then: a command may hold that lock until the upgraded service answers.
  if (runningKeeper(paths.lock)?.pid === process.pid) return null
  await untilNobodyStarts(paths)
  return runningKeeper(paths.lock)
}

/** For a command that needs a service, which does not wait for its end. */
export async function serveInBackground(
  context: Context,
  argv: readonly string[],
): Promise<number> {
  const config = readConfig({ flags: readFlags(argv), env: {}, home: context.home })
  return runService(context, config, ownDirectory(config), "command")
}

function readConfig(sources: ConfigSources): Config {
  const config = loadConfig(sources)
  if (config.ok) return config.value
  const messages = config.failure.map(({ message }) => asSentence(message))
  throw new UsageFailure(messages.join("\n  "))
}

async function runService(
  context: Context,
  config: Config,
  stateDir: string,
  startedBy: StartedBy,
): Promise<number> {
  await using destination = logDestination(config, stateDir)
  const { logLevel: level, logFormat: format } = config
  const render = await renderingFor(format, destination)
  const logger = createLogger({ process: "keeper", level, destination, render })
  let said: Promise<void> = Promise.resolve()
  const say = (text: string) => {
    said = context.stderr.write(`${text}\n`).catch(() => undefined) // it serves on, heard or not
  }
  const exitCode = await context.serve(config, { logger, say, startedBy })
  // What is said last says why it ended; who does not read it must not keep it from ending.
  await Promise.race([said, Bun.sleep(lastWordsMs)])
  return exitCode
}

const lastWordsMs = 1000

/** Which flags there are is for the configuration to say: it knows them all. */
function readFlags(argv: readonly string[]): Record<string, string | true> {
  const options = settingOptions()
  const flags: Record<string, string | true> = {}
  const extra: string[] = []
  const { tokens } = parseArgs({ args: argv, options, strict: false, tokens: true })
  for (const token of tokens) {
    if (token.kind === "positional") extra.push(token.value)
    if (token.kind === "option") flags[token.name] = token.value ?? true
  }
  // What follows a flag that does not exist was meant as its value.
  const allKnown = Object.keys(flags).every((name) => Object.hasOwn(options, name))
  if (extra.length === 0 || !allKnown) return flags
  throw new UsageFailure(`Unexpected argument: ${extra.join(" ")}.`)
}

function ownDirectory({ stateDir }: Config): string {
  const made = makeOwnDirectory(stateDir)
  if (made.ok) return made.value
  throw new CommandFailure(made.failure)
}

function logDestination(config: Config, stateDir: string): LogDestination {
  const { logFile, logFileBytes: maxBytes, logFiles: keep } = config
  if (logFile === null) return standardOutput()
  const isInStateDirectory = [stateDir, config.stateDir].includes(dirname(logFile))
  const path = isInStateDirectory ? join(stateDir, basename(logFile)) : logFile
  const opened = openRotatingFile({ path, maxBytes, keep, isInStateDirectory })
  if (opened.ok) return opened.value
  throw new CommandFailure(
    `The log file ${path} cannot be written (${opened.failure.errno}). Choose another --log-file.`,
  )
}
