import { accessSync, constants, statSync } from "node:fs"
import { isErrno } from "../../lib/errno.ts"
import { readOwned } from "../../lib/owned-file.ts"
import { UntrustedFileError } from "../../lib/untrusted-file.ts"
import type { HealthReport } from "../../protocol/health-report.ts"
import { listensOn } from "../../service/os/network/tcp-table.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import { type Answer, healthIn, redirectText, unreadinessIn } from "../connect/ask.ts"
import { askLocal, foreignAnswerMs, hasListener } from "../connect/local-listener.ts"
import { falseClaim, type RunningKeeper, runningKeeper } from "../connect/running-keeper.ts"
import type { LocalState } from "../connect/state-directory.ts"
import type { Context } from "../context.ts"
import { ageText, sizeText } from "../time.ts"
import { examineEnforcement, notForThisCaller } from "./examine-enforcement.ts"
import { type Finding, fail, ok, warn } from "./finding.ts"

const ownAnswerMs = 2_000
const questions = 2
const clockToleranceMs = 60_000
const asOwner = "run this as the service's user"

export type Examined = { findings: Finding[]; isRunning: boolean }

/** The service of a state directory, as far as it runs; `port` is where one would listen. */
export async function examineRunning(
  context: Context,
  { paths, isOwn }: LocalState,
  port: number | null,
): Promise<Examined> {
  // What is wrong with the directory is said where that is examined.
  if (isHidden(paths.lock)) {
    return { findings: [warn("service", "not visible to this user", asOwner)], isRunning: false }
  }
  try {
    return await examineVisible(context, { paths, isOwn }, port)
  } catch (error) {
    if (!(error instanceof UntrustedFileError)) throw error
    const advice = "no command talks to a service there meanwhile"
    return { findings: [fail("service", error.message, advice)], isRunning: false }
  }
}

async function examineVisible(
  context: Context,
  { paths, isOwn }: LocalState,
  port: number | null,
): Promise<Examined> {
  const keeper = runningKeeper(paths.lock)
  if (keeper === null) {
    return { findings: [notRunning(paths), ...examinePort(port)], isRunning: false }
  }
  const answerMs = isOwn ? ownAnswerMs : foreignAnswerMs / questions
  const answer = await askLocal(paths, "/readyz", answerMs)
  const findings = [
    examineAnswer(context, paths, keeper, answer),
    ...examineClock(context, keeper),
    ...(answer.kind === "answer" ? reasonsIn(answer.body) : []),
    ...(answer.kind === "answer" ? await examineHealth(context, paths, keeper, answerMs) : []),
  ]
  return { findings, isRunning: true }
}

function notRunning(paths: StatePaths): Finding {
  const { lock, log, socket } = paths
  const claim = falseClaim(lock)
  if (claim !== null) {
    return warn("service", `not running; ${claim}`, `find out who wrote ${lock}, then remove it`)
  }
  if (hasListener(paths)) {
    const text = `not to be seen, but something listens on ${socket}`
    return warn("service", text, `it may run in a container; see who it is: ss -xlp src ${socket}`)
  }
  if (!hasText(lock)) return ok("service", "not running; `cc-executor run` starts one")
  const advice = `the next start cleans up and records what it left; see ${log} for the cause`
  return warn("service", "not running; the last one was killed or crashed", advice)
}

const mostLockBytes = 64 * 1024

/** An orderly end leaves the lock empty. */
function hasText(path: string): boolean {
  return (readOwned(path, mostLockBytes)?.toString("utf8") ?? "").trim() !== ""
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
    case "redirect":
      return fail(
        "service",
        `${facts}; what answers on its socket is no service: ${redirectText(answer)}`,
        "end it with `cc-executor stop`, and see who may write to the state directory",
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

/** What it does at the moment, and with what: only its own user is told. */
async function examineHealth(
  context: Context,
  paths: StatePaths,
  { pid }: RunningKeeper,
  answerMs: number,
): Promise<Finding[]> {
  const answer = await askLocal(paths, "/health", answerMs)
  const report = answer.kind === "answer" ? healthIn(answer.body) : null
  const whose = `the running service, pid ${pid}`
  if (report === null) return [notForThisCaller(whose)]
  return [...summary(context, report), ...examineEnforcement(whose, report)]
}

function summary(context: Context, report: HealthReport): Finding[] {
  const { executions, sessions, containment, rss_bytes: rss } = report
  const states = Object.entries(executions).map(([state, count]) => `${count} ${state}`)
  const memory = [rss.keeper, rss.gateway].map((bytes) => (bytes === null ? "?" : sizeText(bytes)))
  const facts = [
    `executions: ${states.length === 0 ? "none" : states.join(", ")}`,
    `sessions: ${sessions}`,
    `containment: ${containment}`,
    `memory: ${memory.join(" + ")} (keeper + gateway)`,
  ]
  const { certificate_expires_at: expiresAt } = report
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
