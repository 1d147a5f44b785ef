import { type Failure, wireCodes } from "../../protocol/failure.ts"
import type { MessageId } from "../messages/message.ts"

/** A refusal over HTTP, with the same words as JSON-RPC has it. */
export function refuse(
  status: number,
  code: number,
  message: string,
  id: MessageId | null = null,
): Response {
  const body = { jsonrpc: "2.0", id, error: { code, message } }
  return Response.json(body, { status, headers: { "cache-control": "no-store" } })
}

export function refuseFailure({ reason, message }: Failure): Response {
  const { http, rpc } = wireCodes(reason)
  const refused = refuse(http, rpc, message)
  if (http === 401) refused.headers.set("www-authenticate", 'Bearer realm="cc-executor bridge"')
  return refused
}
