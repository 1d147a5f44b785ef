import { parseArgs } from "node:util"
import { type Config, configWarnings, loadConfig } from "../../config/config.ts"
import { settings } from "../../config/settings.ts"
import type { LogDestination } from "../../log/destination.ts"
import { createLogger } from "../../log/log.ts"
import { openRotatingFile } from "../../log/rotating-file.ts"
import { standardOutput } from "../../log/standard-output.ts"
import { asksForHelp, helpOption, type OptionTable } from "../arguments.ts"
import type { Command } from "../command.ts"
import type { Context } from "../context.ts"
import { asSentence, CommandFailure, UsageFailure } from "../failure.ts"

export const serveCommand: Command = {
  help: {
    usage: ["serve [OPTIONS]"],
    about: `\
Runs until SIGTERM or SIGINT, then stops every execution with a receipt. A second signal skips the
grace period. Every option has a variable: --log-level is CC_EXECUTOR_LOG_LEVEL. Other commands
start a service by themselves if none is running.`,
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
      } as const,
    ]),
  )
}

async function serve(context: Context, argv: readonly string[]): Promise<number> {
  const config = loadConfig({ flags: readFlags(argv), env: context.env, home: context.home })
  if (!config.ok) {
    const messages = config.failure.map(({ message }) => asSentence(message))
    throw new UsageFailure(messages.join("\n  "))
  }
  for (const { message } of configWarnings(context.env)) {
    await context.stderr.write(`cc-executor: ${message}\n`)
  }
  await using destination = logDestination(config.value)
  const { logLevel: level, logFormat: format } = config.value
  const logger = createLogger({ process: "keeper", level, format, destination })
  let said: Promise<void> = Promise.resolve()
  const say = (text: string) => {
    said = context.stderr.write(`${text}\n`).catch(() => undefined) // it serves on, heard or not
  }
  const exitCode = await context.serve(config.value, { logger, say })
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

function logDestination(config: Config): LogDestination {
  const { logFile: path, logFileBytes: maxBytes, logFiles: keep } = config
  if (path === null) return standardOutput()
  const opened = openRotatingFile({ path, maxBytes, keep })
  if (opened.ok) return opened.value
  throw new CommandFailure(
    `The log file ${path} cannot be written (${opened.failure.errno}). Choose another --log-file.`,
  )
}
