import { reconnectDelayMs } from "../../../client/connection/reconnect-policy.ts"
import { fail, type Result } from "../../../lib/result.ts"
import { circuitOpen, type Problem, problem, refusedBy, unreachable } from "../../problem.ts"
import type { TargetContext } from "../target-context.ts"
import type { Link, OpenLink, Received, Want } from "./link.ts"

/** What a request fails with. It depends on whether it was sent on an earlier connection. */
export type ConnectProblem = (wasSent: boolean) => Problem

/** Opens a connection. Failures that pass by themselves are retried for a while. */
export async function connectWithRetry(
  { target, open, retry, clock, log }: TargetContext & { open: OpenLink },
  received: Received,
  want: Want,
): Promise<Result<Link, ConnectProblem>> {
  const { name, breaker } = target
  const startedMs = clock.monotonicMs()
  for (let attempt = 1; ; attempt += 1) {
    const gate = breaker.go()
    if (!gate.ok) {
      log.warn({ target: name, why: gate.failure.why }, "circuit is open")
      return fail(() => circuitOpen(name, gate.failure, clock))
    }
    const opened = await open(received, want)
    if (want.signal.aborted) {
      if (opened.ok) await opened.value.close()
      return fail(() => problem("BRIDGE_ENDS", "The bridge is shutting down. Reconnect."))
    }
    if (opened.ok) return opened
    const { why, isTransient, hasAnswered } = opened.failure
    const isRefused = hasAnswered && !isTransient
    if (isRefused) breaker.succeeded()
    else breaker.failed(why)
    log.warn({ target: name, why, attempt }, "target cannot be reached")
    if (isRefused) return fail(() => refusedBy(name, why))
    const delayMs = reconnectDelayMs(attempt, retry, clock.random())
    const isLate = clock.monotonicMs() - startedMs + delayMs > retry.forMs
    if (!isTransient || attempt >= retry.tries || isLate) {
      return fail((wasSent) => unreachable(name, why, wasSent))
    }
    await clock.sleep(delayMs, want.signal)
  }
}
