import { type Config, type ConfigProblem, configWarnings, loadConfig } from "../../config/config.ts"
import type { LocalState } from "../connect/state-directory.ts"
import type { Context, Environment } from "../context.ts"
import { type Examined, examineCertificate, examineRunning } from "./examine-running.ts"
import { type Finding, fail, ok, warn } from "./finding.ts"

/** This program, its settings, and the service as far as it runs. */
export async function examineProgram(
  context: Context,
  state: LocalState | null,
): Promise<Examined> {
  const { env, home } = context
  const { version, commit } = context.build
  const config = loadConfig({ flags: {}, env, home })
  const running =
    state === null
      ? { findings: [], isRunning: false }
      : await examineRunning(context, state, config.ok ? config.value.port : null)
  const findings = [
    ok("version", `cc-executor ${version} (${commit}), Bun ${Bun.version}`),
    ...examineSettings(env, config.ok ? [] : config.failure),
    ...(config.ok ? await examinePolicy(context, config.value) : []),
    ...(config.ok ? await examineNamedFiles(context, config.value) : []),
    ...running.findings,
  ]
  return { findings, isRunning: running.isRunning }
}

function examineSettings(env: Environment, problems: readonly ConfigProblem[]): Finding[] {
  const findings = [
    ...problems.map(({ message }) => fail("settings", message, "fix the variable")),
    ...configWarnings(env).map(({ message }) =>
      warn("settings", message, "rename or unset the variable"),
    ),
  ]
  return findings.length === 0 ? [ok("settings", "the environment is valid")] : findings
}

/** What a service of this environment would run, and as whom. */
async function examinePolicy({ decide }: Context, config: Config): Promise<Finding[]> {
  const decision = await decide(config, { argv: ["true"] })
  if (!decision.ok) {
    const advice = "the service would not start: fix the file, or --policy-file"
    return [fail("policy", decision.failure, advice)]
  }
  const { policy, run_as: user, warnings } = decision.value
  const what = policy === "everything" ? "every program may run" : "only listed programs may run"
  const whom = user === null ? "the service's own user" : (user.user ?? `uid ${user.uid}`)
  const advice = "see `cc-executor policy check --help`"
  return [
    ok("policy", `${what}, as ${whom}`),
    ...warnings.map((warning) => warn("policy", warning, advice)),
  ]
}

/** Patterns to redact, and the certificate of TLS. */
async function examineNamedFiles(context: Context, config: Config): Promise<Finding[]> {
  const { problems, certificateExpiresAt } = await context.examineFiles(config)
  const advice = "the service would not start: fix the file, or the setting that names it"
  return [
    ...problems.map((problem) => fail("files", problem, advice)),
    ...(certificateExpiresAt === null
      ? []
      : [examineCertificate(certificateExpiresAt, context.now())]),
  ]
}
