import { CallError } from "../client/client-error.ts"
import type { Command } from "./command.ts"
import { type CommandEntry, familyOf, findCommand, suggestCommand } from "./commands.ts"
import { backgroundService } from "./connect/background-word.ts"
import { serviceOptions } from "./connect/next-command.ts"
import { BrokenPipeError, type Context } from "./context.ts"
import { CommandFailure, contextNote, describeError, UsageFailure } from "./failure.ts"
import { commandHelp, familyHelp, overview } from "./help.ts"

/** What `doctor` starts this program with, in a process of its own. */
const containmentProbe = "__containment"

/** What shells ask on TAB, by what `completions` gave them. */
const completionQuery = "__complete"

/** Runs what the arguments ask for; answers the exit code. */
export async function dispatch(context: Context, argv: readonly string[]): Promise<number> {
  try {
    return await route(context, argv)
  } catch (error) {
    if (error instanceof BrokenPipeError) return 0
    return tellFailure(context, error, "cc-executor help", 1)
  }
}

async function route(context: Context, argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv
  if (name === undefined) {
    await context.stderr.write(`${overview()}\n`)
    return 2
  }
  if (name === containmentProbe) return (await import("./doctor/containment.ts")).probe(context)
  if (name === backgroundService) {
    return (await import("./commands/serve.ts")).serveInBackground(context, rest)
  }
  if (name === completionQuery) {
    return (await import("./completion/complete.ts")).complete(context, rest)
  }
  if (name === "help" || name === "--help" || name === "-h") return help(context, rest)
  if (name === "--version" || name === "-V") return route(context, ["version", ...rest])
  if (name.startsWith("-")) {
    throw new UsageFailure(`${name} must come after the command, not before it.`)
  }
  const found = findCommand(argv)
  if (found === null) return family(context, argv)
  const { entry, rest: args } = found
  const command = await entry.load()
  if (command.asksForHelp(args)) return showHelp(context, entry, command)
  return execute(context, entry, command, args)
}

/** The first of two words, without the second: what could follow it is all there is to say. */
async function family(context: Context, argv: readonly string[]): Promise<number> {
  const [word = "", second] = argv
  const entries = familyOf(word)
  if (entries.length === 0) throw noSuchCommand(word)
  if (second === "--help" || second === "-h") {
    await context.stdout.write(`${familyHelp(entries)}\n`)
    return 0
  }
  if (second === undefined) {
    await context.stderr.write(`${familyHelp(entries)}\n`)
    return 2
  }
  if (!second.startsWith("-")) throw noSuchCommand(`${word} ${second}`)
  const names = entries.map((entry) => `\`${entry.name}\``).join(" or ")
  throw new UsageFailure(`${second} must come after the command: ${names}.`)
}

function noSuchCommand(name: string): UsageFailure {
  return new UsageFailure(`Unknown command: ${name}.${suggestCommand(name)}`)
}

async function execute(
  context: Context,
  entry: CommandEntry,
  command: Command,
  argv: readonly string[],
): Promise<number> {
  const options = serviceOptions(command.given?.(argv) ?? {})
  try {
    return await command.execute({ ...context, serviceOptions: options }, argv)
  } catch (error) {
    if (error instanceof BrokenPipeError) return 0
    const { failureExitCode } = command
    if (error instanceof CallError && Object.hasOwn(command.help.options, "context")) {
      const { usedContext } = await import("./connect/service-choice.ts")
      const name = usedContext(context, command.given?.(argv) ?? {})
      await tell(context, `${describeError(error)}${contextNote(name)}`)
      return failureExitCode
    }
    return tellFailure(context, error, `cc-executor ${entry.name} --help`, failureExitCode)
  }
}

async function help(context: Context, names: readonly string[]): Promise<number> {
  const [name] = names
  if (name === undefined || name.startsWith("-")) {
    await context.stdout.write(`${overview()}\n`)
    return 0
  }
  const found = findCommand(names)
  if (found === null) return family(context, names.length === 1 ? [name, "--help"] : names)
  return showHelp(context, found.entry, await found.entry.load())
}

async function showHelp(context: Context, entry: CommandEntry, command: Command): Promise<number> {
  await context.stdout.write(`${commandHelp(entry, command)}\n`)
  return 0
}

async function tellFailure(
  context: Context,
  error: unknown,
  helpCommand: string,
  exitCode: number,
): Promise<number> {
  if (error instanceof UsageFailure) {
    await tell(context, `${error.message} See \`${helpCommand}\`.`)
    return 2
  }
  await tell(context, describeError(error))
  return error instanceof CommandFailure ? (error.exitCode ?? exitCode) : exitCode
}

async function tell(context: Context, text: string): Promise<void> {
  try {
    await context.stderr.write(`cc-executor: ${text}\n`)
  } catch (error) {
    if (!(error instanceof BrokenPipeError)) throw error // nobody is left to be told
  }
}
