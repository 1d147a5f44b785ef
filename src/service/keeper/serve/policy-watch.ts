import type { Config } from "../../../config/config.ts"
import type { RunAs } from "../../../execution/run-as.ts"
import type { Log } from "../../../lib/log.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { changeableBy, unreachableFor } from "../../os/programs/user-reach.ts"
import type { Programs } from "../ports.ts"
import { doneUnlessShort } from "../shortages.ts"
import type { LaunchRules } from "../starting/allowed-launch.ts"
import { type ReadRules, readRules, type Surroundings } from "./policy-in-force.ts"

/** The rules that hold now: what a start is decided by. */
export type PolicyWatch = Disposable & { rules: () => LaunchRules; programs: Programs }

type Options = Surroundings & {
  self: readonly string[]
  logger: Log
  say: (text: string) => void
}

/** Reads the rules, and again at every SIGHUP; what is wrong then leaves the old ones in force. */
export function watchPolicy(config: Config, options: Options): Result<PolicyWatch, string> {
  const { logger: log, say } = options
  const first = readSafe(config, options)
  if (!first.ok) return first
  let current = first.value
  for (const warning of current.warnings) say(`cc-executor: ${warning}`)
  const again = () => void doneUnlessShort(log, "the policy is reloaded", reload)
  const reload = () => {
    const next = readSafe(config, options)
    const why = next.ok ? neededRestart(current.rules, next.value.rules) : next.failure
    if (!next.ok || why !== null) {
      log.error({ why }, "policy not reloaded: the old one stays in force")
      return
    }
    current = next.value
    log.info({ warnings: current.warnings }, "policy reloaded")
  }
  if (config.policyFile !== null || config.allowedCommands !== null) process.on("SIGHUP", again)
  return ok({
    rules: () => current.rules,
    programs: current.programs,
    [Symbol.dispose]: () => void process.off("SIGHUP", again),
  })
}

/** Why a service could not start with the rules as they stand now; null when it could. */
export function policyProblem(config: Config, options: Options): string | null {
  const read = readSafe(config, options)
  return read.ok ? null : read.failure
}

function readSafe(config: Config, options: Options): Result<ReadRules, string> {
  const read = readRules(config, options)
  if (!read.ok) return read
  const exposed = exposedTo(read.value, config.stateDir, options.self)
  return exposed === null ? read : fail(exposed)
}

/** Why only a new service could go by these rules; null where this one can. */
function neededRestart(before: LaunchRules, now: LaunchRules): string | null {
  if (before.policy.kind !== now.policy.kind) {
    return "Whether there is a list of commands is another matter now: restart the service."
  }
  return userChange(before.user, now.user)
}

/** Files are judged, and limits chosen, for the user that children had at the start. */
function userChange(before: RunAs | null, now: RunAs | null): string | null {
  if (before?.uid === now?.uid && before?.gid === now?.gid) return null
  const change = `was ${before?.uid}:${before?.gid} and is now ${now?.uid}:${now?.gid}`
  return `The account that commands run as ${change}: restart the service.`
}

/** What children of another user must not come near: keys, record, and the service itself. */
function exposedTo(
  { rules: { user } }: ReadRules,
  stateDir: string,
  self: readonly string[],
): string | null {
  if (user === null) return null
  const who = user.user ?? `uid ${user.uid}`
  if (unreachableFor(user, stateDir) === null) {
    const open = `The state directory ${stateDir} is open to ${who}, the user that commands run as`
    return `${open}: give it to root.`
  }
  for (const file of self.filter((part) => part.startsWith("/"))) {
    const how = changeableBy(user, file)
    if (how !== null) {
      return `${who}, the user that commands run as, could replace this program: ${how}.`
    }
  }
  return null
}
