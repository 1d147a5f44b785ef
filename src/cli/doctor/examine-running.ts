import { accessSync, constants, readFileSync, statSync } from "node:fs"
import { isErrno } from "../../lib/errno.ts"
import { parseJson } from "../../lib/parse-json.ts"
import { HealthReport } from "../../protocol/health-report.ts"
import { listensOn } from "../../service/os/network/tcp-table.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import { type Answer, ask, unreadinessIn } from "../connect/ask.ts"
import { type RunningKeeper, runningKeeper } from "../connect/running-keeper.ts"
import type { Context } from "../context.ts"
import { ageText, sizeText } from "../time.ts"
import { type Finding, fail, ok, warn } from "./finding.ts"

const answerMs = 2_000
const clockToleranceMs = 60_000
const asOwner = "run this as the service's user"

/** The service of a state directory, as far as it runs; `port` is where one would listen. */
export async function examineRunning(
  context: Context,
  paths: StatePaths,
  port: number | null,
): Promise<Finding[]> {
  // What is wrong with the directory is said where that is examined.
  if (isHidden(paths.lock)) return [warn("service", "not visible to this user", asOwner)]
  const keeper = runningKeeper(paths.lock)
  if (keeper === null) return [notRunning(paths), ...examinePort(port)]
  const answer = await askLocally(paths, "/readyz")
  return [
    examineAnswer(context, paths, keeper, answer),
    ...examineClock(context, keeper),
    ...(answer.kind === "answer" ? reasonsIn(answer.body) : []),
    ...(answer.kind === "answer" ? await summary(context, paths) : []),
  ]
}

function askLocally(paths: StatePaths, path: string): Promise<Answer> {
  return ask(`http://localhost${path}`, { unix: paths.socket, timeoutMs: answerMs })
}

function notRunning({ lock, log }: StatePaths): Finding {
  if (!hasText(lock)) return ok("service", "not running; `cc-executor run` starts one")
  const advice = `the next start cleans up and records what it left; see ${log} for the cause`
  return warn("service", "not running; the last one was killed or crashed", advice)
}

/** An orderly end leaves the lock empty. */
function hasText(path: string): boolean {
  try {
    return readFileSync(path, "utf8").trim() !== ""
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return false
    throw error
  }
}

function isHidden(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return false
  } catch (error) {
    return isErrno(error, "EACCES")
  }
}

function examinePort(port: number | null): Finding[] {
  if (port === null || port === 0) return []
  if (!listensOn(port)) return [ok("port", `${port} is free`)]
  const advice = `choose another with --port, or see who uses it: ss -ltnp 'sport = :${port}'`
  return [warn("port", `${port} is in use, and \`cc-executor serve\` needs it`, advice)]
}

function examineAnswer(
  context: Context,
  { log }: StatePaths,
  keeper: RunningKeeper,
  answer: Answer,
): Finding {
  const age = ageText(context.now().getTime() - Date.parse(keeper.startedAt))
  const facts = `pid ${keeper.pid}, version ${keeper.version}, for ${age}`
  const hasLog = statSync(log, { throwIfNoEntry: false }) !== undefined
  const itsLog = hasLog ? log : "its log (journalctl, or the file of --log-file)"
  switch (answer.kind) {
    case "answer":
      if (keeper.version === context.build.version) {
        return ok("service", `running: ${facts}, answers in ${answer.ms.toFixed(1)} ms`)
      }
      return warn(
        "service",
        `running: ${facts}, while this program is version ${context.build.version}`,
        "run `cc-executor upgrade` to switch to this version; executions continue",
      )
    case "nobody":
      return fail(
        "service",
        `${facts}; its gateway, which serves clients, does not answer (${answer.why})`,
        `it restarts by itself: check again, and look for \`gateway ended\` in ${itsLog}`,
      )
    case "silent":
      return fail(
        "service",
        `${facts}, does not answer within ${answer.afterMs} ms`,
        `a gateway that hangs is replaced after ten seconds: check again, then see ${itsLog}`,
      )
  }
}

/** Times of tokens, certificates and retention are only as good as the clock. */
function examineClock(context: Context, { startedAt }: RunningKeeper): Finding[] {
  const aheadMs = Date.parse(startedAt) - context.now().getTime()
  if (aheadMs < clockToleranceMs) return []
  const text = `the service started ${ageText(aheadMs)} in the future: the clock was set back`
  return [warn("clock", text, "correct it; tokens, certificates and retention depend on it")]
}

function reasonsIn(body: string): Finding[] {
  const reasons = unreadinessIn(body) ?? []
  return reasons.map(({ name, message, action, passes }) => {
    return (passes ? warn : fail)("readiness", `${name}: ${message}`, action)
  })
}

/** What it does at the moment: only its own user is told. */
async function summary(context: Context, paths: StatePaths): Promise<Finding[]> {
  const answer = await askLocally(paths, "/health")
  const json = answer.kind === "answer" ? parseJson(answer.body) : null
  const read = HealthReport.safeParse(json?.ok === true ? json.value : null)
  if (!read.success) return []
  const { executions, sessions, containment, rss_bytes: rss } = read.data
  const states = Object.entries(executions).map(([state, count]) => `${count} ${state}`)
  const memory = [rss.keeper, rss.gateway].map((bytes) => (bytes === null ? "?" : sizeText(bytes)))
  const facts = [
    `executions: ${states.length === 0 ? "none" : states.join(", ")}`,
    `sessions: ${sessions}`,
    `containment: ${containment}`,
    `memory: ${memory.join(" + ")} (keeper + gateway)`,
  ]
  const { certificate_expires_at: expiresAt } = read.data
  const certificate = expiresAt === null ? [] : [new Date(expiresAt)]
  return [
    ok("workload", facts.join("; ")),
    ...certificate.map((at) => examineCertificate(at, context.now())),
  ]
}

const dayMs = 24 * 3_600_000
const soonMs = 14 * dayMs
const name = "certificate"
const renew = "replace the files of --tls-cert and --tls-key; a running service loads them"

/** Of TLS: when clients will refuse it. */
export function examineCertificate(expiresAt: Date, now: Date): Finding {
  const leftMs = expiresAt.getTime() - now.getTime()
  const day = expiresAt.toISOString().slice(0, 10)
  if (leftMs <= 0) return fail(name, `expired on ${day}: clients refuse it`, renew)
  const text = `valid until ${day}, for ${Math.floor(leftMs / dayMs)} days`
  return leftMs < soonMs ? warn(name, text, renew) : ok(name, text)
}
