import { resolve } from "node:path"
import { type Config, loadConfig } from "../../config/config.ts"
import { ApprovalJudge, ownedRules } from "../../execution/judge-question.ts"
import { realPathOf, withRealDirectories } from "../../service/os/real-directories.ts"
import { approvalOption } from "../agents/approval-option.ts"
import { verdictJson, verdictLines } from "../agents/approval-verdict.ts"
import { inputOption } from "../agents/input-option.ts"
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
  tool: option("NAME", "instead of a command: a tool that an agent asks to use"),
  input: option("JSON", "with --tool: what it would be used with"),
  approval: option("FILE", "with --tool: the session's own rules, as for `claude`"),
  json: flag("one JSON document"),
}

type Values = Arguments<typeof options>["values"]

/** The service would not even start, so that nothing can be said about a command. */
const cannotTell = 2

export const policyCommand: Command = {
  help: {
    usage: [
      "policy check [OPTIONS] [--] COMMAND [ARGUMENT…]",
      "policy check --command 'LINE'",
      "policy check --tool NAME [--input JSON] [--approval FILE]",
    ],
    about: `\
Shows whether the service would run a command and, if not, why. Nothing is run and no service is
needed. Settings come from the options and the environment, as for \`serve\`; PATH and the rest of
the environment are those of this shell. Exits with 0 if it is allowed, 1 if it is refused.
With --tool, shows how approval rules would answer an agent that asks to use a tool, and which rule
decides; exits with 0 if it is allowed, 1 if it is denied or a person is asked.`,
    options: { ...options, ...helpOption },
    examples: {
      "may git push run?":
        "cc-executor policy check --policy-file /etc/cc-executor/policy.yaml -- git push",
      "check a client's command line":
        "cc-executor policy check --allowed-commands echo --command 'echo hi; id'",
      "what would a session's rules answer?":
        'cc-executor policy check --approval rules.yaml --tool Bash --input \'{"command":"ls"}\'',
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
  if (values.tool !== undefined) return checkTool(context, values, values.tool, operands)
  if (values.input !== undefined || values.approval !== undefined) {
    throw new UsageFailure("--input and --approval belong to --tool: which tool is asked about?")
  }
  const request = requestOf(context, values, operands)
  const decision = await context.decide(configOf(context, values), request)
  if (!decision.ok) throw new CommandFailure(decision.failure)
  const text =
    values.json === true
      ? JSON.stringify(decision.value, null, 2)
      : decisionLines(decision.value).join("\n")
  await context.stdout.write(`${text}\n`)
  return decision.value.allowed ? 0 : 1
}

/** How rules would answer an agent that asks to use a tool. */
async function checkTool(
  context: Context,
  values: Values,
  tool: string,
  operands: readonly string[],
): Promise<number> {
  if (operands.length > 0 || values.command !== undefined || values.shell !== undefined) {
    throw new UsageFailure("Ask either about a command, or with --tool about an agent's question.")
  }
  const service = await context.approvalRules(configOf(context, values))
  if (!service.ok) throw new CommandFailure(service.failure)
  const { approval, input = "{}" } = values
  const session = approval === undefined ? [] : approvalOption(context, approval)
  const rules = withRealDirectories(ownedRules(service.value, session))
  const directory = realPathOf(resolve(context.cwd, values.cwd ?? ""))
  const verdict = new ApprovalJudge(rules, directory).judge({ tool, input: inputOption(input) })
  const text =
    values.json === true
      ? JSON.stringify(verdictJson(verdict, directory), null, 2)
      : verdictLines(verdict, directory).join("\n")
  await context.stdout.write(`${text}\n`)
  return verdict.decide === "allow" ? 0 : 1
}

function configOf(context: Context, values: Values): Config {
  const config = loadConfig({ flags: flagsOf(values), env: context.env, home: context.home })
  if (config.ok) return config.value
  const messages = config.failure.map(({ message }) => asSentence(message))
  throw new UsageFailure(messages.join("\n  "))
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
