import { basename } from "node:path"
import { allowsProgram, changesWhatRuns, type Policy } from "../execution/policy.ts"
import { fail, ok, type Result } from "../execution/result.ts"
import type { Budget, ExecutionSpec, ResourceLimits } from "../execution/spec.ts"
import { readCommand } from "../execution/words.ts"
import type { ExecuteParams } from "../protocol/execute.ts"
import { type Failure, failure } from "../protocol/failure.ts"
import type { Launch, Programs } from "./ports.ts"

export type PlanSettings = {
  shell: string
  policy: Policy
  /** What every child gets: the service's own environment, without what is its own business. */
  baseEnv: Record<string, string>
  cwd: string
  budget: Budget
  wallTimeoutMs: number | null
  idleTimeoutMs: number | null
  limits: ResourceLimits
  enforceable: ReadonlySet<keyof ResourceLimits>
}

export type Plan = { spec: ExecutionSpec; launch: Omit<Launch, "executionId"> }

/** Decides, before anything happens, what a request would run and whether it may. */
export function planExecution(
  request: ExecuteParams,
  settings: PlanSettings,
  programs: Programs,
): Result<Plan, Failure> {
  const wanted = wantedArgv(request, settings.shell)
  if (!wanted.ok) return wanted
  const { argv, shell } = wanted.value
  const { policy } = settings

  const limits = plannedLimits(request, settings)
  if (!limits.ok) return limits
  const variables = Object.keys(request.env ?? {})
  const loader = policy.kind === "everything" ? undefined : variables.find(changesWhatRuns)
  if (loader !== undefined) {
    return denied(`with an allow-list, a request must not set ${loader}, which changes what runs`)
  }

  const env = { ...settings.baseEnv, ...request.env }
  if (request.terminal !== undefined) env["TERM"] ??= "xterm-256color"
  const cwd = request.cwd ?? settings.cwd
  const [name = ""] = argv
  const program = programs.locate(name, env["PATH"] ?? "", cwd)
  if (!program.ok) {
    const { errno, message } = program.failure
    if (policy.kind === "allow-list") return denied(`${name} is not on the allow-list`)
    return fail(failure("SPAWN_FAILED", `Could not start: ${message}.`, { errno }))
  }
  const { path, realPath } = program.value
  if (!allowsProgram(policy, { realPath, name: basename(path) })) {
    return denied(
      shell
        ? `the command needs the shell, and ${path} is not on the allow-list`
        : `${path} is not on the allow-list`,
    )
  }

  const { budget, labels, stdin, on_disconnect: onDisconnect } = request
  const spec: ExecutionSpec = {
    command: request.command ?? null,
    argv,
    shell,
    cwd,
    envNames: variables.toSorted(),
    stdin: request.terminal === undefined ? stdin : "pipe",
    terminal: request.terminal ?? null,
    wallTimeoutMs: request.timeout === undefined ? settings.wallTimeoutMs : request.timeout * 1000,
    idleTimeoutMs:
      request.idle_timeout === undefined ? settings.idleTimeoutMs : request.idle_timeout * 1000,
    budget: {
      bytes: budget?.bytes ?? settings.budget.bytes,
      lines: budget?.lines ?? settings.budget.lines,
      policy: budget?.policy ?? (request.terminal ? "drop-oldest" : settings.budget.policy),
    },
    limits: limits.value,
    onDisconnect,
    labels,
  }
  const { terminal } = spec
  return ok({
    spec,
    launch: {
      argv: [path, ...argv.slice(1)],
      argv0: name,
      cwd,
      env,
      stdin: spec.stdin,
      terminal,
      limits: limits.value,
    },
  })
}

function wantedArgv(
  request: ExecuteParams,
  shell: string,
): Result<{ argv: string[]; shell: boolean }, Failure> {
  if (request.argv !== undefined) return ok({ argv: request.argv, shell: false })
  const command = request.command ?? ""
  const inShell = ok({ argv: [shell, "-c", command], shell: true })
  if (request.shell === true) return inShell
  const form = readCommand(command)
  if (form.ok) {
    return form.value.kind === "shell" ? inShell : ok({ argv: form.value.words, shell: false })
  }
  const message =
    form.failure.kind === "empty"
      ? "The command is empty."
      : `The command ends inside a quote: ${form.failure.quote} is not closed.`
  return fail(failure("INVALID_PARAMS", message))
}

/** A limit that nobody would enforce is refused: a receipt must not claim it. */
function plannedLimits(
  request: ExecuteParams,
  settings: Pick<PlanSettings, "limits" | "enforceable">,
): Result<ResourceLimits, Failure> {
  const limits: ResourceLimits = {
    memoryBytes: request.limits?.memory ?? settings.limits.memoryBytes,
    cpus: request.limits?.cpu ?? settings.limits.cpus,
    pids: request.limits?.pids ?? settings.limits.pids,
  }
  const refused = unenforceable(limits, settings.enforceable)
  if (refused === null) return ok(limits)
  const message = `A limit of ${refused} cannot be enforced here: it needs a cgroup controller.`
  return fail(failure("INVALID_PARAMS", message, { limit: refused }))
}

/** The first limit asked for that this machine cannot hold anything to. */
export function unenforceable(
  limits: ResourceLimits,
  enforceable: ReadonlySet<keyof ResourceLimits>,
): string | null {
  const kinds = [
    { key: "memoryBytes", name: "memory" },
    { key: "cpus", name: "cpu" },
    { key: "pids", name: "pids" },
  ] as const
  const first = kinds.find(({ key }) => limits[key] !== null && !enforceable.has(key))
  return first?.name ?? null
}

function denied(why: string): Result<never, Failure> {
  return fail(failure("SECURITY_DENIED", `Refused: ${why}.`))
}
