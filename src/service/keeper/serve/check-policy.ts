import type { SettingFiles } from "../../../cli/context.ts"
import type { PolicyDecision } from "../../../cli/policy-decision.ts"
import type { Config } from "../../../config/config.ts"
import { readCommand } from "../../../execution/read-command.ts"
import { heldByNothing } from "../../../execution/spec.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { checkParams, invalidParams } from "../../../protocol/check-params.ts"
import { ExecuteParams } from "../../../protocol/execute.ts"
import type { Failure } from "../../../protocol/failure.ts"
import type { ParamsOf } from "../../../protocol/methods.ts"
import { readTlsMaterial } from "../../gateway/listen/tls-material.ts"
import type { LaunchRules } from "../starting/allowed-launch.ts"
import { type Plan, planExecution } from "../starting/plan.ts"
import { type ReadRules, readRules, type Surroundings } from "./policy-in-force.ts"
import { redactionOf, requestDefaults, tlsFiles } from "./settings.ts"

/** What a service with this configuration would do with a request; a failure is why it has none. */
export function checkPolicy(
  config: Config,
  request: ParamsOf<"execute">,
  around: Surroundings,
): Result<PolicyDecision, string> {
  const read = readRules(config, around)
  if (!read.ok) return fail(read.failure)
  const { rules, warnings } = read.value
  const plan = planned(request, config, read.value)
  const { user } = rules
  return ok({
    policy: rules.policy.kind,
    allowed: plan.ok,
    why: plan.ok ? null : plan.failure.message.replace(/^Refused: /, ""),
    rule: plan.ok ? null : ruleOf(plan.failure),
    files: filesOf(request, plan, read.value),
    cwd: plan.ok ? plan.value.spec.cwd : null,
    run_as: user === null ? null : { uid: user.uid, gid: user.gid, user: user.user },
    environment: {
      base: Object.keys(rules.baseEnv).toSorted(),
      added: Object.keys(request.env ?? {}).toSorted(),
    },
    warnings,
  })
}

/** By which a service with this configuration would answer agents' questions. */
export function approvalRules(
  config: Config,
  around: Surroundings,
): Result<LaunchRules["approval"], string> {
  const read = readRules(config, around)
  return read.ok ? ok(read.value.rules.approval) : read
}

function planned(
  request: ParamsOf<"execute">,
  config: Config,
  { rules, programs }: ReadRules,
): Result<Plan, Failure> {
  const params = checkParams(ExecuteParams, request)
  if (!params.ok) {
    const [first] = params.failure
    const message = `Invalid parameters: ${first?.message ?? "unknown"}.`
    return fail(invalidParams(message, params.failure, rules.policy.kind))
  }
  const settings = {
    ...rules,
    ...requestDefaults(config),
    // How much is another question: this one is asked without a machine that would hold it.
    limits: { memoryBytes: null, cpus: null, pids: null },
    holders: heldByNothing,
    maxWallTimeoutMs: Infinity,
    maxOutputBytes: Infinity,
    retainBytesPerPrincipal: Infinity,
  }
  return planExecution(params.value, settings, programs, true)
}

function ruleOf({ details, reason }: Failure): string {
  const rule = details?.["rule"]
  return typeof rule === "string" ? rule : reason
}

/** Also of what is refused: to see what a name leads to explains most refusals. */
function filesOf(
  request: ParamsOf<"execute">,
  plan: Result<Plan, Failure>,
  { rules, programs }: ReadRules,
): string[] | null {
  const name = plan.ok ? plan.value.launch.argv[0] : programName(request, rules.shell)
  const path = rules.baseEnv["PATH"] ?? ""
  const found = programs.locate(name ?? "", path, request.cwd ?? rules.cwd)
  if (!found.ok) return null
  const files = programs.filesOf(found.value, path)
  return files.ok ? files.value.map(({ realPath }) => realPath) : [found.value.realPath]
}

function programName({ argv, command, shell }: ParamsOf<"execute">, shellPath: string): string {
  if (argv !== undefined) return argv[0] ?? ""
  const form = readCommand(command ?? "")
  if (shell === true || (form.ok && form.value.kind === "shell")) return shellPath
  return form.ok && form.value.kind === "words" ? (form.value.words[0] ?? "") : ""
}

/** Looks at the files that settings name, as a service with this configuration would. */
export function examineFiles(config: Config): SettingFiles {
  const redaction = redactionOf(config)
  const files = tlsFiles(config)
  const tls = files === null ? null : readTlsMaterial(files)
  return {
    problems: [
      ...(redaction.ok ? [] : [redaction.failure]),
      ...(tls === null || tls.ok ? [] : [tls.failure]),
    ],
    certificateExpiresAt: tls?.ok === true ? tls.value.expiresAt : null,
  }
}
