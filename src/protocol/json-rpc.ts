import { z } from "zod"
import { parseJson } from "../lib/parse-json.ts"
import { fail, ok, type Result } from "../lib/result.ts"
import { type Failure, failure, wireError } from "./failure.ts"

const RequestId = z.union([z.string(), z.number()])
export type RequestId = z.infer<typeof RequestId>

export const RpcRequest = z.object({
  jsonrpc: z.literal("2.0"),
  id: RequestId.optional().describe("without an id it is a notification and gets no response"),
  method: z.string(),
  params: z.unknown().optional(),
})
export type RpcRequest = z.infer<typeof RpcRequest>

export type UnreadableRequest = { id: RequestId | null; failure: Failure }

export function readRequest(text: string): Result<RpcRequest, UnreadableRequest> {
  const parsed = parseJson(text)
  if (!parsed.ok) {
    const message = `The message is ${parsed.failure}.`
    return fail({ id: null, failure: failure("PARSE_ERROR", message) })
  }
  const json = parsed.value
  if (Array.isArray(json)) {
    const message = "Batches are not supported: send one request per message."
    return fail({ id: null, failure: failure("INVALID_REQUEST", message) })
  }
  const request = RpcRequest.safeParse(json)
  if (request.success) return ok(request.data)
  const message = "The message is not a JSON-RPC 2.0 request."
  const details = { issues: request.error.issues }
  return fail({ id: readableId(json), failure: failure("INVALID_REQUEST", message, details) })
}

/** An id that can be read is answered with, so that the caller finds its broken request. */
function readableId(json: unknown): RequestId | null {
  const withId = z.object({ id: RequestId }).safeParse(json)
  return withId.success ? withId.data.id : null
}

export function resultMessage(id: RequestId, result: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result })
}

export function errorMessage(id: RequestId | null, refused: Failure): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: wireError(refused) })
}

export function notificationMessage(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params })
}
