import { reconnectDelayMs } from "../../../client/connection/reconnect-policy.ts"
import type { Log } from "../../../lib/log.ts"
import { fail, type Result } from "../../../lib/result.ts"
import type { BridgeClock, RetryPolicy } from "../../ports.ts"
import { circuitOpen, type Problem, problem, refusedBy, unreachable } from "../../problem.ts"
import type { KnownTarget } from "../known-target.ts"
import type { Link, OpenLink, Received, Want } from "./link.ts"

/** What to tell a request, by whether it had been sent on an earlier connection. */
export type ConnectProblem = (wasSent: boolean) => Problem

export type ConnectSettings = {
  target: KnownTarget
  open: OpenLink
  retry: RetryPolicy
  clock: BridgeClock
  log: Log
}

/** Opens a connection, and tries again for a while where the failure is one that passes. */
export async function connectWithRetry(
  { target, open, retry, clock, log }: ConnectSettings,
  received: Received,
  want: Want,
): Promise<Result<Link, ConnectProblem>> {
  const { name, breaker } = target
  const startedMs = clock.monotonicMs()
  for (let attempt = 1; ; attempt += 1) {
    const gate = breaker.go()
    if (!gate.ok) {
      log.warn({ target: name, why: gate.failure.why }, "circuit is open")
      const now = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() }
      return fail(() => circuitOpen(name, gate.failure, now))
    }
    const opened = await open(received, want)
    if (want.signal.aborted) {
      if (opened.ok) await opened.value.close()
      return fail(() => problem("BRIDGE_ENDS", "The bridge is shutting down. Reconnect."))
    }
    if (opened.ok) return opened
    const { why, isTransient, hasAnswered } = opened.failure
    if (hasAnswered && !isTransient) breaker.succeeded()
    else breaker.failed(why)
    log.warn({ target: name, why, attempt }, "target cannot be reached")
    if (!isTransient && hasAnswered) return fail(() => refusedBy(name, why))
    const delayMs = reconnectDelayMs(attempt, { ...retry, giveUpAfterMs: null }, clock.random())
    const isLate = clock.monotonicMs() - startedMs + delayMs > retry.forMs
    if (!isTransient || attempt >= retry.tries || isLate) {
      return fail((wasSent) => unreachable(name, why, wasSent))
    }
    await clock.sleep(delayMs, want.signal)
  }
}
