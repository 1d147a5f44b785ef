import { z } from "zod"
import type { Failure } from "../../protocol/failure.ts"
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

const SentInput = z.object({
  execution_id: z.string(),
  data: z.string().default(""),
  encoding: z.enum(["utf8", "base64"]).default("utf8"),
  end: z.boolean().default(false),
  offset: z.int(),
})

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
