import { resolve } from "node:path"
import { BudgetPolicy, type TerminalSize } from "../../execution/spec.ts"
import type { ParamsOf } from "../../protocol/methods.ts"
import { readPairs } from "../arguments.ts"
import type { Context, Environment } from "../context.ts"
import { UsageFailure } from "../failure.ts"
import { countOption, durationOption, sizeOption } from "../time.ts"
import { callersEnvironment } from "./callers-environment.ts"
import type { RunValues } from "./run-options.ts"

export type RunRequest = ParamsOf<"execute">

/** What goes from here to the execution. */
export type RunInput = "none" | "stream" | "keys"

const fallbackSize: TerminalSize = { cols: 80, rows: 24 }

/** The request that a `run` makes, and nothing else of it: a pure reading of its arguments. */
export function runRequest(
  context: Pick<Context, "cwd" | "env" | "stdin" | "terminalSize">,
  values: RunValues,
  operands: readonly string[],
  isLocal: boolean,
): RunRequest {
  const request: RunRequest = { ...commandOf(values, operands), encoding: "binary" }
  const cwd = values.cwd ?? (isLocal ? context.cwd : undefined)
  if (cwd !== undefined) request.cwd = isLocal ? resolve(context.cwd, cwd) : cwd
  request.env = {
    ...(isLocal ? callersEnvironment(context.env) : {}),
    ...(isLocal && request.cwd !== undefined ? { PWD: request.cwd } : {}),
    ...(values.terminal === true ? terminalVariables(context.env) : {}),
    ...explicitEnvironment(values.env, context.env),
  }
  if (values.terminal === true) request.terminal = context.terminalSize() ?? fallbackSize
  else request.stdin = keepsInputOpen(context, values) ? "pipe" : "closed"
  request.labels = {
    ...readPairs("--label", values.label),
    ...(values.name === undefined ? {} : { name: values.name }),
  }
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
  return request
}

function commandOf(values: RunValues, operands: readonly string[]) {
  const { shell } = values
  if (shell === undefined) {
    if (operands.length > 0) return { argv: [...operands] }
    throw new UsageFailure("The command to run is missing: cc-executor run -- COMMAND.")
  }
  if (operands.length === 0) return { command: shell, shell: true }
  throw new UsageFailure(
    `--shell takes the whole command line as one argument; "${operands.join(" ")}" is left over.`,
  )
}

/** A pipe or a file is passed on by itself; a terminal only when that is asked for. */
export function inputOf(context: Pick<Context, "stdin">, values: RunValues): RunInput {
  const { kind } = context.stdin
  if (values.detach === true) return "none"
  if (values.terminal === true && kind === "terminal") return "keys"
  if (kind === "stream") return "stream"
  return values.interactive === true ? "stream" : "none"
}

function keepsInputOpen(context: Pick<Context, "stdin">, values: RunValues): boolean {
  return values.interactive === true || inputOf(context, values) !== "none"
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

function secondsOf(option: string, text: string): number {
  return durationOption(option, text) / 1000
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
  throw new UsageFailure(`--budget-policy: "${text}" is not a policy: give ${allowed}.`)
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
  throw new UsageFailure(`--cpus: "${text}" is not a number of processors: give 0.5 or 2.`)
}
