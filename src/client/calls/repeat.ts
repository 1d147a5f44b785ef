import { z } from "zod"
import { ExecutionId } from "../../execution/id.ts"
import type { Failure, Reason } from "../../protocol/failure.ts"
import type { MethodName, ResultOf } from "../../protocol/methods.ts"

/**
 * Whether a request whose answer was lost may be sent again on another session: either doing it
 * twice is doing it once, or the server recognizes it (idempotency key, input offset).
 */
export function isSafeToRepeat(method: MethodName, params: unknown): boolean {
  switch (method) {
    case "control":
      return RepeatableControl.safeParse(params).success
    case "input":
      return WithOffset.safeParse(params).success
    case "agent.send":
      return WithTurn.safeParse(params).success
    case "agent.start":
    case "trial.begin":
      return WithKey.safeParse(params).success
    case "notify.test": // a second one would be a second message
    case "agent.answer": // a second one is told whose the first was
    case "agent.take":
    case "agent.drop":
    case "agent.interrupt": // it might end the turn after
      return false
    case "agent.end":
    case "agent.configure":
    case "resize":
    case "remove":
      return OnOneExecution.safeParse(params).success
    case "trial.renew":
    case "trial.end":
    case "transcript.search":
    case "trial.status":
    case "trial.list":
    case "notify.list":
    case "node.list":
    case "node.drain":
    case "node.undrain":
    case "node.forget":
    case "agent.status":
    case "agent.inbox":
    case "agent.changes":
    case "execute":
    case "attach":
    case "detach":
    case "ack":
    case "watch":
    case "list":
    case "status":
    case "receipt":
    case "screen":
    case "transcript.read":
    case "transcript.verify":
      return true
  }
}

// By a name or by the beginning of an id, another execution may be meant a moment later; and
// without an id, "the session's latest execution" is another one, or none, on the next session.
const OnOneExecution = z.object({ execution_id: ExecutionId })
// A second SIGNAL would be a second signal.
const RepeatableControl = OnOneExecution.extend({ type: z.enum(["PAUSE", "RESUME", "CANCEL"]) })
const WithOffset = OnOneExecution.extend({ offset: z.int() })
const WithTurn = OnOneExecution.extend({ turn_id: z.string() })
const WithKey = z.object({ idempotency_key: z.string() })

type AskStatus = (executionId: string) => Promise<ResultOf<"status"> | null>

/**
 * A repeated request may be refused because its first sending had been done. Answers the result
 * that was lost then, or undefined when the refusal is the truth.
 */
export async function resultLostEarlier(
  request: { method: MethodName; params: unknown },
  refused: Failure,
  status: AskStatus,
): Promise<unknown> {
  if (request.method === "remove" && refused.reason === "PROCESS_NOT_FOUND") return {}
  if (refused.reason !== "WRONG_STATE") return undefined
  return request.method === "control" ? controlResult(request.params, status) : undefined
}

async function controlResult(params: unknown, status: AskStatus): Promise<unknown> {
  const control = RepeatableControl.safeParse(params)
  if (!control.success) return undefined
  const view = await status(control.data.execution_id)
  if (view === null) return undefined
  const { execution_id, state, stopped, survivors } = view
  switch (control.data.type) {
    case "PAUSE":
      return state === "paused" ? { status: "paused", execution_id } : undefined
    case "RESUME":
      return state === "running" ? { status: "resumed", execution_id } : undefined
    case "CANCEL":
      if (state !== "ended") return undefined
      return { status: "canceled", execution_id, processes: stopped, survivors }
  }
}

/** Refusals that say "not now" rather than "no". */
const transientReasons: ReadonlySet<Reason> = new Set([
  "RATE_LIMITED",
  "SHUTTING_DOWN",
  "SESSION_LIMIT",
  "STREAM_TIMEOUT",
  "AT_CAPACITY",
  "FLEET_UNAVAILABLE",
])

const RetryAfter = z.object({ retry_after: z.number().min(0).max(3_600).describe("seconds") })
const unsaidDelayMs = 1_000

export function isTransient(refused: Failure): boolean {
  return transientReasons.has(refused.reason)
}

/**
 * Refusals made before the server looks at what was asked. When a repeated request meets one, its
 * first sending may have been done all the same: only a later answer tells.
 */
export function saysNothingOfTheRequest(refused: Failure): boolean {
  return refused.reason === "RATE_LIMITED" || refused.reason === "SHUTTING_DOWN"
}

/** The service goes on in a moment, and has done nothing: it says when to ask again. */
export function comesBack({ reason, details }: Failure): boolean {
  return reason === "SHUTTING_DOWN" && RetryAfter.safeParse(details).success
}

export function retryDelayMs(refused: Failure): number {
  const said = RetryAfter.safeParse(refused.details)
  return said.success ? said.data.retry_after * 1000 : unsaidDelayMs
}
