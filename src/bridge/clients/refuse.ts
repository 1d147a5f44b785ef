import { type Failure, wireCodes } from "../../protocol/failure.ts"
import type { MessageId } from "../messages/message.ts"
import type { BridgeLog } from "../ports.ts"
import type { Door } from "./door.ts"
import { type Asked, endsOf, isServedPath, type ListenAddress } from "./listening.ts"

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

function refuseFailure({ reason, message }: Failure): Response {
  const { http, rpc } = wireCodes(reason)
  const refused = refuse(http, rpc, message)
  if (http === 401) refused.headers.set("www-authenticate", 'Bearer realm="cc-executor bridge"')
  return refused
}

type Doorway = { address: ListenAddress; door: Door; log: BridgeLog }

/** The answer to whoever may not come in, or came to the wrong place; null for all others. */
export function turnAway(
  { address, door, log }: Doorway,
  server: Asked,
  request: Request,
): Response | null {
  const ends = endsOf(server, request, address.host)
  if (ends === null) return new Response(null, { status: 400 })
  const allowed = door(request, ends)
  if (!allowed.ok) {
    log.warn({ peer: ends.peer.address, reason: allowed.failure.reason }, "client refused")
    return refuseFailure(allowed.failure)
  }
  return isServedPath(address, request) ? null : refuse(404, -32600, `Use ${address.path}.`)
}
