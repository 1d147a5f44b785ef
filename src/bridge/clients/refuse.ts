import type { Log } from "../../lib/log.ts"
import { type Failure, wireCodes } from "../../protocol/failure.ts"
import type { MessageId } from "../messages/message.ts"
import { type Asked, endsOf, isServedPath, type ListenAddress } from "./listening.ts"
import type { RequestGuard } from "./request-guard.ts"

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

type RequestChecks = { address: ListenAddress; guard: RequestGuard; log: Log }

/** The answer to a client that is not allowed, or a wrong path; null for all others. */
export function refusalFor(
  { address, guard, log }: RequestChecks,
  server: Asked,
  request: Request,
): Response | null {
  const ends = endsOf(server, request, address.host)
  if (ends === null) return new Response(null, { status: 400 })
  const allowed = guard(request, ends)
  if (!allowed.ok) {
    log.warn({ peer: ends.peer.address, reason: allowed.failure.reason }, "client refused")
    return refuseFailure(allowed.failure)
  }
  return isServedPath(address, request) ? null : refuse(404, -32600, `Use ${address.path}.`)
}
