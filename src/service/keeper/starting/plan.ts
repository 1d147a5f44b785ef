import { readCommand } from "../../../execution/read-command.ts"
import type { Budget, ExecutionSpec } from "../../../execution/spec.ts"
import { canonicalText } from "../../../lib/canonical-text.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { ExecuteParams } from "../../../protocol/execute.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Launch, Programs } from "../ports.ts"
import {
  checkLine,
  checkWords,
  denied,
  type LaunchRules,
  plannedDirectory,
  plannedProgram,
} from "./allowed-launch.ts"
import { type LimitSettings, plannedLimits, tooMuchAsked } from "./planned-limits.ts"

export type PlanSettings = LaunchRules &
  LimitSettings & {
    budget: Budget
    wallTimeoutMs: number | null
    idleTimeoutMs: number | null
  }

export type Plan = { spec: ExecutionSpec; launch: Omit<Launch, "executionId"> }

/** Decides, before anything happens, what a request would run and whether it may. */
export function planExecution(
  request: ExecuteParams,
  settings: PlanSettings,
  programs: Programs,
  exempt: boolean,
): Result<Plan, Failure> {
  const line = checkLine(request, settings)
  if (!line.ok) return line
  const wanted = wantedArgv(request, settings)
  if (!wanted.ok) return wanted
  const { argv, shell } = wanted.value
  const tooMuch = tooMuchAsked(request, settings, exempt)
  if (tooMuch !== null) return fail(tooMuch)
  const limits = plannedLimits(request, settings)
  if (!limits.ok) return limits
  const words = checkWords(argv, request.env ?? {}, settings)
  if (!words.ok) return words

  const env = { ...settings.baseEnv, ...request.env }
  if (request.terminal !== undefined) env["TERM"] ??= "xterm-256color"
  const directory = plannedDirectory(request.cwd, settings, programs)
  if (!directory.ok) return directory
  const { cwd, cwdIsReal } = directory.value
  const whose = request.env?.["PATH"] === undefined ? "the service's PATH" : "PATH"
  const where = { path: env["PATH"] ?? "", whose, cwd }
  const program = plannedProgram(wanted.value, where, settings.policy, programs)
  if (!program.ok) return program

  const { budget, labels, stdin, notify, on_disconnect: onDisconnect } = request
  const spec: ExecutionSpec = {
    command: request.command ?? null,
    argv,
    shell,
    cwd,
    envNames: Object.keys(request.env ?? {}).toSorted(),
    stdin: request.terminal === undefined ? stdin : "pipe",
    terminal: request.terminal ?? null,
    wallTimeoutMs: wallTimeoutMs(request, settings),
    idleTimeoutMs:
      request.idle_timeout === undefined ? settings.idleTimeoutMs : request.idle_timeout * 1000,
    budget: {
      bytes: Math.min(
        budget?.bytes ?? settings.budget.bytes,
        exempt ? Infinity : settings.retainBytesPerPrincipal,
      ),
      lines: budget?.lines ?? settings.budget.lines,
      policy: budget?.policy ?? (request.terminal ? "drop-oldest" : settings.budget.policy),
    },
    ...limits.value,
    onDisconnect,
    labels,
    ...(notify === undefined ? {} : { notify }),
  }
  const { terminal } = spec
  return ok({
    spec,
    launch: {
      argv: [program.value.file, ...argv.slice(1)],
      argv0: program.value.argv0,
      cwd,
      cwdIsReal,
      env,
      stdin: spec.stdin,
      terminal,
      limits: limits.value.limits,
      limitsHeldBy: limits.value.limitsHeldBy,
      user: settings.user,
    },
  })
}

/** An execution that waited is what its record says, or it is not started. */
export function sameAsPlanned<Planned extends Plan>(
  earlier: ExecutionSpec,
  plan: Result<Planned, Failure>,
): Result<Planned, Failure> {
  if (!plan.ok || canonicalText(plan.value.spec) === canonicalText(earlier)) return plan
  return denied("directory", "its working directory has changed while it was queued")
}

function wallTimeoutMs(request: ExecuteParams, settings: PlanSettings): number | null {
  const wantedMs = request.timeout === undefined ? settings.wallTimeoutMs : request.timeout * 1000
  const holdsMs = Math.min(wantedMs ?? Infinity, settings.maxWallTimeoutMs)
  return holdsMs === Infinity ? null : holdsMs
}

function wantedArgv(
  request: ExecuteParams,
  { shell, policy }: LaunchRules,
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
  if (policy.kind === "allow-list")
    return fail(failure("SECURITY_DENIED", message, { rule: "line" }))
  return fail(failure("INVALID_PARAMS", message))
}
