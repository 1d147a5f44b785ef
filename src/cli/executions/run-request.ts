import { resolve } from "node:path"
import { BudgetPolicy, type TerminalSize } from "../../execution/spec.ts"
import type { ParamsOf } from "../../protocol/methods.ts"
import { flag, option, readPairs, repeatable, type Values } from "../arguments.ts"
import { addressOptions } from "../connect/address.ts"
import { callersEnvironment } from "../connect/service-environment.ts"
import type { Context, Environment } from "../context.ts"
import { UsageFailure } from "../failure.ts"
import { detachKeysOption } from "../terminal/detach-keys.ts"
import { countOption, durationOption, sizeOption } from "../time.ts"

export const runOptions = {
  detach: flag("start it, print its id, and return", { short: "d" }),
  interactive: flag("forward input from a terminal, too; with -d leave it open for `send`", {
    short: "i",
  }),
  terminal: flag("run it on a terminal, of the same size as this one", { short: "t" }),
  shell: option("'LINE'", "a command line for the service's shell, instead of a command"),
  cwd: option("DIR", "working directory (default for the local service: this one)"),
  env: repeatable("NAME=VALUE", "set a variable; NAME alone takes its value from this shell", {
    short: "e",
  }),
  name: option("NAME", "works wherever its id does; only one live execution can have it"),
  label: repeatable("NAME=VALUE", "label it, for `ps --label`", { short: "l" }),
  on: repeatable("NAME=VALUE", "a node of the fleet with this label; `node=NAME` is that one"),
  notify: repeatable("TARGET", "tell this target of its end: see `notify ls`"),
  timeout: option("TIME", "stop it after this long, not counting pauses"),
  "idle-timeout": option("TIME", "stop it after this long without input or output"),
  "budget-bytes": option("SIZE", "output to keep"),
  "budget-lines": option("N", "lines of output to keep"),
  "budget-policy": option("POLICY", "beyond the budget: drop-oldest, or block until it is read", {
    choices: ["drop-oldest", "block"],
  }),
  "output-limit": option("SIZE", "stop it after this much output"),
  memory: option("SIZE", "memory limit (see `doctor`)"),
  cpus: option("N", "processor limit, such as 0.5 or 2"),
  pids: option("N", "limit of processes and threads"),
  ...detachKeysOption,
  "cancel-on-disconnect": flag("cancel it if this program stays disconnected"),
  "idempotency-key": option("KEY", "requests with the same key start only one execution"),
  ...addressOptions,
}

export type RunValues = Values<typeof runOptions>

export type RunRequest = ParamsOf<"execute">

/** What goes from here to the execution. */
export type RunInput = "none" | "stream" | "keys"

/** What a `run` asks for, read before it is known which service will get it. */
export type AskedRun = {
  /** What every service is told alike. */
  request: RunRequest
  /** As it was given; null where it was not. */
  cwd: string | null
  terminalVariables: Readonly<Record<string, string>>
  /** Variables that were asked for by name: every service gets them. */
  namedVariables: Readonly<Record<string, string>>
  input: RunInput
}

const fallbackSize: TerminalSize = { cols: 80, rows: 24 }

/** Refuses arguments that are wrong, before any service is asked or started. */
export function readRun(
  context: Pick<Context, "env" | "stdin" | "terminalSize">,
  values: RunValues,
  operands: readonly string[],
): AskedRun {
  const request: RunRequest = { ...commandOf(values, operands), encoding: "binary" }
  const input = inputOf(context, values)
  if (values.terminal === true) request.terminal = context.terminalSize() ?? fallbackSize
  else request.stdin = values.interactive === true || input !== "none" ? "pipe" : "closed"
  request.labels = {
    ...readPairs("--label", values.label),
    ...(values.name === undefined ? {} : { name: values.name }),
  }
  if (values.on !== undefined) request.on = readPairs("--on", values.on)
  if (values.notify !== undefined) request.notify = [...values.notify]
  if (values.timeout !== undefined) request.timeout = secondsOf("--timeout", values.timeout)
  const idle = values["idle-timeout"]
  if (idle !== undefined) request.idle_timeout = secondsOf("--idle-timeout", idle)
  const budget = budgetOf(values)
  if (budget !== undefined) request.budget = budget
  const limits = limitsOf(values)
  if (limits !== undefined) request.limits = limits
  if (values["cancel-on-disconnect"] === true) request.on_disconnect = "cancel"
  const key = values["idempotency-key"]
  if (key !== undefined) request.idempotency_key = key
  return {
    request,
    cwd: values.cwd ?? null,
    terminalVariables: values.terminal === true ? terminalVariables(context.env) : {},
    namedVariables: explicitEnvironment(values.env, context.env),
    input,
  }
}

/**
 * Who gets a request: a service elsewhere, or one here that runs programs as this user, as another,
 * or only as an allow-list permits.
 */
export type Receiver = "remote" | "own-user" | "other-user" | "allow-list"

/** The request for one service. Only one that runs here gets this shell's directory. */
export function requestFor(
  receiver: Receiver,
  asked: AskedRun,
  shell: Pick<Context, "cwd" | "env">,
): RunRequest {
  const { namedVariables: named, terminalVariables: terminal } = asked
  if (receiver === "remote") {
    const request: RunRequest = { ...asked.request, env: { ...terminal, ...named } }
    return asked.cwd === null ? request : { ...request, cwd: asked.cwd }
  }
  const cwd = resolve(shell.cwd, asked.cwd ?? "")
  const request: RunRequest = { ...asked.request, cwd }
  // Where an allow-list rules, a request may set little.
  if (receiver === "allow-list") return { ...request, env: named }
  const inherited = { ...callersEnvironment(shell.env), PWD: cwd, ...terminal }
  if (receiver === "own-user") return { ...request, env: { ...inherited, ...named } }
  // Another user has a home of its own.
  const shared = Object.entries(inherited).filter(([name]) => !ofThisUser.test(name))
  return { ...request, env: { ...Object.fromEntries(shared), ...named } }
}

const ofThisUser = /^(?:HOME|USER|LOGNAME|SHELL|MAIL|SUDO_.*|XDG_.*|DBUS_.*)$/

function commandOf(values: RunValues, operands: readonly string[]) {
  const { shell } = values
  if (shell === undefined) {
    if (operands.length > 0) return { argv: [...operands] }
    throw new UsageFailure("The command to run is missing: cc-executor run -- COMMAND.")
  }
  if (operands.length === 0) return { command: shell, shell: true }
  throw new UsageFailure(
    `--shell takes the whole command line as one argument. Unexpected: "${operands.join(" ")}".`,
  )
}

/** A pipe or a file is passed on by itself; a terminal only when that is asked for. */
function inputOf(context: Pick<Context, "stdin">, values: RunValues): RunInput {
  const { kind } = context.stdin
  if (values.detach === true) return kind === "stream" ? "stream" : "none"
  if (values.terminal === true && kind === "terminal") return "keys"
  if (kind === "stream") return "stream"
  return values.interactive === true ? "stream" : "none"
}

function terminalVariables(env: Environment): Record<string, string> {
  const names = ["TERM", "COLORTERM"].filter((name) => (env[name] ?? "") !== "")
  return Object.fromEntries(names.map((name) => [name, env[name] ?? ""]))
}

export function explicitEnvironment(
  pairs: readonly string[] = [],
  env: Environment,
): Record<string, string> {
  const full = pairs.flatMap((pair) => {
    if (pair.includes("=")) return [pair]
    const value = env[pair]
    return value === undefined ? [] : [`${pair}=${value}`]
  })
  return readPairs("--env", full)
}

function secondsOf(flagName: string, text: string): number {
  return durationOption(flagName, text) / 1000
}

function budgetOf(values: RunValues): RunRequest["budget"] {
  const budget: NonNullable<RunRequest["budget"]> = {}
  const bytes = values["budget-bytes"]
  if (bytes !== undefined) budget.bytes = sizeOption("--budget-bytes", bytes)
  const lines = values["budget-lines"]
  if (lines !== undefined) budget.lines = countOption("--budget-lines", lines)
  const policy = values["budget-policy"]
  if (policy !== undefined) budget.policy = policyOf(policy)
  return Object.keys(budget).length === 0 ? undefined : budget
}

function policyOf(text: string): BudgetPolicy {
  const policy = BudgetPolicy.safeParse(text)
  if (policy.success) return policy.data
  const allowed = BudgetPolicy.options.join(" or ")
  throw new UsageFailure(`--budget-policy: "${text}" is not a policy: use ${allowed}.`)
}

function limitsOf(values: RunValues): RunRequest["limits"] {
  const limits: NonNullable<RunRequest["limits"]> = {}
  if (values.memory !== undefined) limits.memory = sizeOption("--memory", values.memory)
  if (values.cpus !== undefined) limits.cpu = cpusOption(values.cpus)
  if (values.pids !== undefined) limits.pids = countOption("--pids", values.pids)
  const output = values["output-limit"]
  if (output !== undefined) limits.output = sizeOption("--output-limit", output)
  return Object.keys(limits).length === 0 ? undefined : limits
}

function cpusOption(text: string): number {
  const cpus = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0
  if (cpus > 0) return cpus
  throw new UsageFailure(
    `--cpus: "${text}" is not a number of processors: use for example 0.5 or 2.`,
  )
}
