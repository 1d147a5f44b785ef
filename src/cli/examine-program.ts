import { configWarnings, loadConfig } from "../config.ts"
import type { StatePaths } from "./address.ts"
import { ask } from "./ask.ts"
import type { Context } from "./context.ts"
import { type Finding, fail, ok, warn } from "./finding.ts"
import { runningKeeper } from "./running-keeper.ts"
import { ageText } from "./time.ts"

const answerMs = 2_000

/** This program, its settings, and the service as far as it runs. */
export async function examineProgram(context: Context, paths: StatePaths): Promise<Finding[]> {
  const { version, commit } = context.build
  return [
    ok("version", `cc-executor ${version} (${commit}), Bun ${Bun.version}`),
    ...examineSettings(context),
    ...(await examinePolicy(context)),
    await examineKeeper(context, paths),
  ]
}

function examineSettings(context: Context): Finding[] {
  const { env, home } = context
  const config = loadConfig({ flags: {}, env, home })
  const problems = config.ok ? [] : config.failure
  const warnings = configWarnings(env)
  const findings = [
    ...problems.map(({ message }) => fail("settings", message, "put the variable right")),
    ...warnings.map(({ message }) => warn("settings", message, "rename or unset the variable")),
  ]
  return findings.length === 0 ? [ok("settings", "nothing wrong in the environment")] : findings
}

/** What a service of this environment would run, and as whom. */
async function examinePolicy({ env, home, decide }: Context): Promise<Finding[]> {
  const config = loadConfig({ flags: {}, env, home })
  if (!config.ok) return []
  const decision = await decide(config.value, { argv: ["true"] })
  if (!decision.ok) return [fail("policy", decision.failure, "no service would start so")]
  const { policy, run_as: user, warnings } = decision.value
  const what = policy === "everything" ? "every program may run" : "only listed programs may run"
  const whom = user === null ? "the service's own user" : (user.user ?? `uid ${user.uid}`)
  const advice = "see `cc-executor policy check --help`"
  return [
    ok("policy", `${what}, as ${whom}`),
    ...warnings.map((warning) => warn("policy", warning, advice)),
  ]
}

async function examineKeeper(context: Context, paths: StatePaths): Promise<Finding> {
  const keeper = runningKeeper(paths.lock)
  if (keeper === null) return ok("service", "not running; `cc-executor run` starts one")
  const age = ageText(context.now().getTime() - Date.parse(keeper.startedAt))
  const facts = `pid ${keeper.pid}, version ${keeper.version}, for ${age}`
  const options = { unix: paths.socket, timeoutMs: answerMs }
  const answer = await ask("http://localhost/readyz", options)
  const see = `see ${paths.log}, or \`cc-executor stop\` and start it again`
  switch (answer.kind) {
    case "answer":
      if (answer.status !== 200) return warn("service", `${facts}, is shutting down`, "wait")
      if (keeper.version === context.build.version) {
        return ok("service", `running: ${facts}, answers in ${answer.ms.toFixed(1)} ms`)
      }
      return warn("service", `running: ${facts}`, "restart it: `cc-executor stop`, then `run`")
    case "nobody":
      return fail("service", `${facts}, cannot be reached (${answer.why})`, see)
    case "silent":
      return fail("service", `${facts}, does not answer within ${answer.afterMs} ms`, see)
  }
}
