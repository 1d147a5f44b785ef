import { fail, ok, type Result } from "../../lib/result.ts"
import type { TcpEnds } from "../../lib/tcp-ends.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import { createIdentify } from "../../service/access/identify.ts"
import { originChecker } from "../../service/access/origin.ts"
import { Tickets } from "../../service/access/tickets.ts"
import { isSecretOf, secretHash } from "../../service/access/tokens/token.ts"

export type RequestGuardSettings = {
  /** The address the bridge listens on: allowed in `Host`, besides names of loopback. */
  host: string
  /** The token for clients other than this user; null allows no others. */
  clientToken: (() => string) | null
  ownUid: number
  /** The user at the other end of a local connection. */
  uidOf: (ends: TcpEnds) => number | null
}

/** Whether a request is allowed. */
export type RequestGuard = (request: Request, ends: TcpEnds) => Result<null, Failure>

/** Checks every request and upgrade, against web pages, other users and other machines. */
export function createRequestGuard(settings: RequestGuardSettings): RequestGuard {
  const { host, clientToken, ownUid, uidOf } = settings
  const checkOrigin = originChecker({ allowedHosts: [host], allowedOrigins: [] })
  const monotonicMs = () => performance.now()
  const identify = createIdentify({
    processOf: () => ({ kind: "elsewhere" }),
    tokens: {
      check(token) {
        const expected = clientToken === null ? null : secretHash(clientToken())
        return isSecretOf(token, expected) ? ok(bearer) : fail("unknown")
      },
      isStillGood: () => true,
    },
    tickets: new Tickets(() => crypto.randomUUID(), monotonicMs), // none is ever issued
    trustsLoopback: true,
    ownUid,
    uidOf,
    certificateScopes: [],
    monotonicMs,
  })
  return ({ headers }, ends) => {
    const origin = checkOrigin({
      host: headers.get("host") ?? "",
      origin: headers.get("origin"),
      fetchSite: headers.get("sec-fetch-site"),
      isUnixSocket: false,
    })
    if (!origin.ok) return fail(inOwnWords(origin.failure))
    const peer = { kind: "tcp", subject: null, ...ends } as const
    const caller = identify({ via: "bridge", peer, headers, ticket: null })
    return caller.ok ? ok(null) : fail(inOwnWords(caller.failure))
  }
}

const bearer = { id: "client", name: "client", scopes: [] }

/** The service's messages name options that a bridge does not have. */
function inOwnWords(refused: Failure): Failure {
  switch (refused.reason) {
    case "UNAUTHORIZED":
      return failure(
        "UNAUTHORIZED",
        "This bridge serves the local user who started it, and clients that send " +
          "`Authorization: Bearer TOKEN` with the token from --client-token-file.",
      )
    case "FORBIDDEN":
      return failure(
        "FORBIDDEN",
        "This bridge does not serve web pages, and answers only to the address it listens on: " +
          "the Origin or Host of this request is different.",
      )
    default:
      return refused
  }
}
