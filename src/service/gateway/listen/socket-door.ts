import { fail, ok, type Result } from "../../../lib/result.ts"
import { TokenBuckets } from "../../../lib/token-bucket.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Caller } from "../../access/caller.ts"
import type { Identify, Peer } from "../../access/identify.ts"
import { type KnownNames, originChecker } from "../../access/origin.ts"
import type { Penalties } from "../../access/penalties.ts"
import { isAdmin } from "../../access/permission.ts"
import { AddressPlaces } from "./address-limits.ts"

export type SocketDoorSettings = KnownNames & { maxConnectionsPerAddress: number }

/** Of one principal without the scope `admin`: a connection is for many requests. */
const connectRate = { perSecond: 5, burst: 60 }
const mostPrincipals = 10_000

/** Who may have a WebSocket, and the place it takes until it is closed. */
export type Admitted = { caller: Caller; place: Disposable }

export type SocketDoor = (request: Request, url: URL, peer: Peer) => Result<Admitted, Failure>

/** An upgrade passes by everything that guards the HTTP routes: here it is guarded by itself. */
export function openSocketDoor(
  settings: SocketDoorSettings,
  identify: Identify,
  penalties: Penalties,
): SocketDoor {
  const places = new AddressPlaces(settings.maxConnectionsPerAddress)
  const checkOrigin = originChecker(settings)
  const connects = new TokenBuckets(connectRate, mostPrincipals)

  function checkPace(caller: Caller): Result<null, Failure> {
    if (isAdmin(caller)) return ok(null)
    const retry_after = connects.take(caller.principal, performance.now())
    if (retry_after === 0) return ok(null)
    const message = `${caller.principal} connects too often: keep a connection, or wait.`
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
    const penalty = penalties.check(caller.value)
    if (!penalty.ok) return penalty
    const pace = checkPace(caller.value)
    if (!pace.ok) return pace
    const place = places.take(caller.value.address)
    if (place !== null) return ok({ caller: caller.value, place })
    const { maxConnectionsPerAddress: most } = settings
    const message = `${caller.value.address} has ${most} connections already: close one first.`
    return fail(failure("RATE_LIMITED", message, { retry_after: 1 }))
  }
}
