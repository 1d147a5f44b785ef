import type { BridgeLog } from "../ports.ts"
import type { Door } from "./door.ts"
import { type Asked, endsOf, isServedPath, type ListenAddress } from "./listening.ts"
import { refuse, refuseFailure } from "./refuse.ts"

export type Doorway = { address: ListenAddress; door: Door; log: BridgeLog }

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
