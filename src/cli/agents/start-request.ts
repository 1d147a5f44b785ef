import { resolve } from "node:path"
import { PermissionMode } from "../../protocol/agent.ts"
import type { ParamsOf } from "../../protocol/methods.ts"
import { flag, option, readPairs, repeatable, type Values } from "../arguments.ts"
import { addressOptions } from "../connect/address.ts"
import type { Context } from "../context.ts"
import { explicitEnvironment } from "../executions/run-request.ts"
import { UsageFailure } from "../failure.ts"
import { countOption, durationOption, sizeOption } from "../time.ts"
import { approvalOption } from "./approval-option.ts"

export const claudeOptions = {
  detach: flag("start the session, print its id, and return", { short: "d" }),
  json: flag("print the session's events as they are recorded, one JSON object a line"),
  resume: option("SESSION", "go on with a session, by its own id or an execution's", {
    short: "r",
  }),
  fork: flag("with --resume: in a copy, so that the session stays as it is"),
  "take-over": flag("with --resume: end the execution that has the session first"),
  worktree: option("NAME", "in a git worktree of its own, on the branch cc-executor/NAME", {
    short: "w",
  }),
  each: option(
    "FILE",
    "a session for each line of a file, each in a worktree; - is standard input",
  ),
  jobs: option("N", "with --each: how many at a time (default: 4)", { short: "j" }),
  again: flag("with --each: start lines anew that an earlier command has started"),
  model: option("MODEL", "which model to use", { short: "m" }),
  "permission-mode": option("MODE", "what it may do without asking", {
    choices: PermissionMode.options,
  }),
  approval: option("FILE", "rules that answer its questions: see docs/agents.md"),
  "max-turns": option("N", "end the session after so many answers of the model"),
  "max-cost": option("USD", "end the session when it has cost this much"),
  "max-tokens": option("N", "end the session after so many tokens of any kind"),
  "on-limit": option("WHAT", "at a usage limit: wait until it is over, or stop", {
    choices: ["wait", "stop"],
  }),
  cwd: option("DIR", "working directory (default for the local service: this one)"),
  env: repeatable("NAME=VALUE", "set a variable; NAME alone takes its value from this shell", {
    short: "e",
  }),
  "env-file": option("FILE", "a file of NAME=VALUE lines, read at every start of the agent"),
  name: option("NAME", "short for --label name=NAME"),
  label: repeatable("NAME=VALUE", "label it, for `ps --label`", { short: "l" }),
  notify: repeatable("TARGET", "tell this target of its questions and its end: see `notify ls`"),
  timeout: option("TIME", "stop it after this long, not counting pauses"),
  memory: option("SIZE", "memory limit (see `doctor`)"),
  arg: repeatable("ARG", "a further argument for Claude Code itself"),
  "idempotency-key": option("KEY", "requests with the same key start only one session"),
  ...addressOptions,
}

type StartParams = ParamsOf<"agent.start">

/** What `claude` asks for; `isLocal` says whether the service runs on this machine. */
export function startRequest(
  context: Pick<Context, "cwd" | "env">,
  values: Values<typeof claudeOptions>,
  prompt: string | null,
  isLocal: boolean,
): StartParams {
  const request: StartParams = {
    labels: {
      ...readPairs("--label", values.label),
      ...(values.name === undefined ? {} : { name: values.name }),
    },
    fork: values.fork === true,
    take_over: values["take-over"] === true,
    args: values.arg ?? [],
  }
  if (prompt !== null) request.prompt = prompt
  if (values.notify !== undefined) request.notify = [...values.notify]
  if (values.resume !== undefined) request.resume = values.resume
  if (values.worktree !== undefined) request.worktree = values.worktree
  if (values.model !== undefined) request.model = values.model
  const mode = PermissionMode.options.find((known) => known === values["permission-mode"])
  if (mode !== undefined) request.permission_mode = mode
  if (values.approval !== undefined) request.approval = approvalOption(context, values.approval)
  const turns = values["max-turns"]
  if (turns !== undefined) request.max_turns = countOption("--max-turns", turns)
  const cost = values["max-cost"]
  if (cost !== undefined) request.max_cost_usd = dollars(cost)
  const tokens = values["max-tokens"]
  if (tokens !== undefined) request.max_tokens = countOption("--max-tokens", tokens)
  if (values["on-limit"] === "stop") request.on_limit = "stop"
  const env = explicitEnvironment(values.env, context.env)
  if (Object.keys(env).length > 0) request.env = env
  const envFile = values["env-file"]
  if (envFile !== undefined) request.env_file = isLocal ? resolve(context.cwd, envFile) : envFile
  // An execution that is gone on with has a directory of its own.
  const isElsewhere = values.cwd === undefined && isExecution(values.resume)
  const cwd = isLocal && !isElsewhere ? resolve(context.cwd, values.cwd ?? "") : values.cwd
  if (cwd !== undefined) request.cwd = cwd
  if (values.timeout !== undefined) {
    request.timeout = durationOption("--timeout", values.timeout) / 1000
  }
  if (values.memory !== undefined) {
    request.limits = { memory: sizeOption("--memory", values.memory) }
  }
  const key = values["idempotency-key"]
  if (key !== undefined) request.idempotency_key = key
  return request
}

export function configureRequest(values: {
  model?: string | undefined
  "permission-mode"?: string | undefined
}): Omit<ParamsOf<"agent.configure">, "execution_id"> {
  const { model } = values
  const mode = PermissionMode.options.find((known) => known === values["permission-mode"])
  if (model === undefined && mode === undefined) {
    throw new UsageFailure("Nothing to change: use --model or --permission-mode.")
  }
  return {
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { permission_mode: mode }),
  }
}

function isExecution(resume: string | undefined): boolean {
  return resume !== undefined && !/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(resume)
}

function dollars(text: string): number {
  const value = /^\$?\d+(?:\.\d+)?$/.test(text) ? Number(text.replace("$", "")) : 0
  if (value > 0) return value
  throw new UsageFailure(`--max-cost: "${text}" is not an amount in dollars: use for example 2.50.`)
}
