import { resolve } from "node:path"
import { loadConfig } from "../../config/config.ts"
import {
  type Arguments,
  asksForHelp,
  flag,
  helpOption,
  option,
  readArguments,
  repeatable,
} from "../arguments.ts"
import type { Command } from "../command.ts"
import type { Context } from "../context.ts"
import { explicitEnvironment, type RunRequest } from "../executions/run-request.ts"
import { asSentence, CommandFailure, UsageFailure } from "../failure.ts"
import { decisionLines } from "../policy-decision.ts"

const options = {
  "policy-file": option("FILE", "the policy file, as for `serve`"),
  "allowed-commands": option("LIST", "the allow-list, as for `serve`"),
  "run-as": option("USER", "the user that commands run as, as for `serve`"),
  cwd: option("DIR", "the working directory"),
  env: repeatable("NAME=VALUE", "a variable that the request sets"),
  command: option("LINE", "a command line, as clients send it"),
  shell: option("LINE", "a command line for the shell"),
  json: flag("one JSON document"),
}

type Values = Arguments<typeof options>["values"]

/** The service would not even start, so that nothing can be said about a command. */
const cannotTell = 2

export const policyCommand: Command = {
  help: {
    usage: ["policy check [OPTIONS] [--] COMMAND [ARGUMENT…]", "policy check --command 'LINE'"],
    about: `\
Shows whether the service would run a command and, if not, why. Nothing is run and no service is
needed. Settings come from the options and the environment, as for \`serve\`; PATH and the rest of
the environment are those of this shell. Exits with 0 if it is allowed, 1 if it is refused.`,
    options: { ...options, ...helpOption },
    examples: {
      "may git push run?":
        "cc-executor policy check --policy-file /etc/cc-executor/policy.yaml -- git push",
      "check a client's command line":
        "cc-executor policy check --allowed-commands echo --command 'echo hi; id'",
    },
  },
  failureExitCode: cannotTell,
  asksForHelp: (argv) => asksForHelp(afterCheck(argv), { ...options, ...helpOption }, true),
  execute(context, argv) {
    const args = readArguments(afterCheck(argv), options, true)
    if (argv[0] !== "check") throw new UsageFailure("The only subcommand is `policy check`.")
    return check(context, args)
  },
}

function afterCheck(argv: readonly string[]): readonly string[] {
  return argv[0] === "check" ? argv.slice(1) : argv
}

async function check(context: Context, args: Arguments<typeof options>): Promise<number> {
  const { values, operands } = args
  const request = requestOf(context, values, operands)
  const config = loadConfig({ flags: flagsOf(values), env: context.env, home: context.home })
  if (!config.ok) {
    const messages = config.failure.map(({ message }) => asSentence(message))
    throw new UsageFailure(messages.join("\n  "))
  }
  const decision = await context.decide(config.value, request)
  if (!decision.ok) throw new CommandFailure(decision.failure)
  const text =
    values.json === true
      ? JSON.stringify(decision.value, null, 2)
      : decisionLines(decision.value).join("\n")
  await context.stdout.write(`${text}\n`)
  return decision.value.allowed ? 0 : 1
}

function flagsOf(values: Values): Record<string, string> {
  const names = ["policy-file", "allowed-commands", "run-as"] as const
  const given = names.flatMap((name) => {
    const text = values[name]
    return text === undefined ? [] : [[name, text] as const]
  })
  return Object.fromEntries(given)
}

function requestOf(context: Context, values: Values, operands: string[]): RunRequest {
  const { shell, command, cwd } = values
  const ways = [shell, command, operands.length > 0 ? operands : undefined]
  if (ways.filter((way) => way !== undefined).length !== 1) {
    throw new UsageFailure("Give exactly one command: after --, with --command, or with --shell.")
  }
  return {
    ...(shell !== undefined && { command: shell, shell: true }),
    ...(command !== undefined && { command }),
    ...(operands.length > 0 && { argv: operands }),
    ...(cwd !== undefined && { cwd: resolve(context.cwd, cwd) }),
    env: explicitEnvironment(values.env, context.env),
  }
}
