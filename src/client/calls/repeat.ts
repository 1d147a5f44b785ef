import { z } from "zod"
import type { Failure, Reason } from "../../protocol/failure.ts"
import { InputParams, type MethodName, type ResultOf } from "../../protocol/methods.ts"

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
    case "execute":
    case "resize":
    case "attach":
    case "detach":
    case "ack":
    case "watch":
    case "remove":
    case "list":
    case "status":
    case "receipt":
    case "transcript.read":
    case "transcript.verify":
      return true
  }
}

// A second SIGNAL would be a second signal. Without an id, "the session's latest execution" would
// mean another one, or none, on the next session.
const RepeatableControl = z.object({
  type: z.enum(["PAUSE", "RESUME", "CANCEL"]),
  execution_id: z.string(),
})
const WithOffset = z.object({ offset: z.int() })

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
  if (request.method === "control") return controlResult(request.params, status)
  return request.method === "input" ? inputResult(request.params, status) : undefined
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

const SentInput = InputParams.required({ offset: true })

/** The child may have taken the input and ended, or closed its input, before the repetition. */
async function inputResult(params: unknown, status: AskStatus): Promise<unknown> {
  const input = SentInput.safeParse(params)
  if (!input.success) return undefined
  const { data, encoding, offset } = input.data
  const bytes = encoding === "base64" ? Uint8Array.fromBase64(data) : new TextEncoder().encode(data)
  const view = await status(input.data.execution_id)
  if (view === null || view.stdin_bytes < offset + bytes.length) return undefined
  return { accepted: bytes.length, offset: view.stdin_bytes }
}

/** Refusals that say "not now" rather than "no". */
const transientReasons: ReadonlySet<Reason> = new Set([
  "RATE_LIMITED",
  "SHUTTING_DOWN",
  "SESSION_LIMIT",
  "STREAM_TIMEOUT",
  "AT_CAPACITY",
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

export function retryDelayMs(refused: Failure): number {
  const said = RetryAfter.safeParse(refused.details)
  return said.success ? said.data.retry_after * 1000 : unsaidDelayMs
}
