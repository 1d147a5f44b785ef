import { fail, ok, type Result } from "../../../lib/result.ts"
import { TokenBuckets } from "../../../lib/token-bucket.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Caller } from "../../access/caller.ts"
import type { Identify, Peer } from "../../access/identify.ts"
import { type KnownNames, originChecker } from "../../access/origin.ts"
import { isAdmin } from "../../access/permission.ts"
import type { TemporaryBans } from "../../access/temporary-bans.ts"
import { ConnectionLimiter } from "./connection-limiter.ts"

export type SocketGuardSettings = KnownNames & { maxConnectionsPerAddress: number }

/** Of one principal without the scope `admin`: a connection is for many requests. */
const connectRate = { perSecond: 5, burst: 60 }
const mostPrincipals = 10_000

/** Who may have a WebSocket, and its slot of the address's connection limit. */
export type AdmittedSocket = { caller: Caller; connectionSlot: Disposable }

export type SocketGuard = (
  request: Request,
  url: URL,
  peer: Peer,
) => Result<AdmittedSocket, Failure>

/** A WebSocket upgrade bypasses the middleware of the HTTP routes, so it is checked here. */
export function createSocketGuard(
  settings: SocketGuardSettings,
  identify: Identify,
  bans: TemporaryBans,
): SocketGuard {
  const connections = new ConnectionLimiter(settings.maxConnectionsPerAddress)
  const checkOrigin = originChecker(settings)
  const connects = new TokenBuckets(connectRate, mostPrincipals)

  function checkConnectRate(caller: Caller): Result<null, Failure> {
    if (isAdmin(caller)) return ok(null)
    const retry_after = connects.take(caller.principal, performance.now())
    if (retry_after === 0) return ok(null)
    const message = `${caller.principal} connects too often: reuse a connection, or wait.`
    return fail(failure("RATE_LIMITED", message, { retry_after }))
  }

  return (request, url, peer) => {
    const { headers } = request
    const origin = checkOrigin({
      host: headers.get("host") ?? "",
      origin: headers.get("origin"),
      fetchSite: headers.get("sec-fetch-site"),
      isUnixSocket: peer.kind === "unix",
    })
    if (!origin.ok) return origin
    const ticket = url.searchParams.get("ticket")
    const caller = identify({ via: "websocket", peer, headers, ticket })
    if (!caller.ok) return caller
    const banned = bans.check(caller.value)
    if (!banned.ok) return banned
    const rate = checkConnectRate(caller.value)
    if (!rate.ok) return rate
    const slot = connections.acquire(caller.value.address)
    if (slot !== null) return ok({ caller: caller.value, connectionSlot: slot })
    const { maxConnectionsPerAddress: most } = settings
    const message = `${caller.value.address} has ${most} open connections already: close one first.`
    return fail(failure("RATE_LIMITED", message, { retry_after: 1 }))
  }
}
