import { wordsOf } from "../../execution/argument-rule.ts"
import type { Scope } from "../../execution/scope.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { canonicalAddress, isLoopbackAddress, networkOf, type TcpEnds } from "../../lib/tcp-ends.ts"
import { TokenBuckets } from "../../lib/token-bucket.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import type { PeerProcess } from "../../protocol/ipc.ts"
import { type Caller, localCaller } from "./caller.ts"
import type { Tickets } from "./tickets.ts"

/** Who is at the other end, as the machine tells it. */
export type Peer =
  | { kind: "unix" }
  /** `subject` is that of a certificate the peer has shown, null without one. */
  | ({ kind: "tcp"; subject: string | null } & TcpEnds)

export type ConnectionAttempt = {
  via: string
  peer: Peer
  headers: Pick<Headers, "get" | "keys">
  /** What stands in the URL of a WebSocket. */
  ticket: string | null
}

export type Bearer = { id: string; name: string; scopes: readonly Scope[] }

export interface TokenCheck {
  check(token: string): Result<Bearer, "unknown" | "expired" | "revoked">
  isStillGood(id: string): boolean
}

export type IdentifyOptions = {
  tokens: TokenCheck
  tickets: Tickets
  /** Whether the service's own user needs no token on loopback. */
  trustsLoopback: boolean
  ownUid: number
  /** Null where the machine does not tell. */
  uidOf(ends: TcpEnds): number | null
  /** Which process of this machine a peer is. */
  processOf(peer: Peer): PeerProcess
  certificateScopes: readonly Scope[]
  monotonicMs(): number
}

export type Identify = (arrival: ConnectionAttempt) => Result<Caller, Failure>

/** Wrong tokens from one address: a few at once, then one every two seconds. */
const wrongTries = { perSecond: 0.5, burst: 20 }
const mostAddresses = 10_000
const root = 0

/**
 * The one place that decides who somebody is. What is shown is judged before what is found out: a
 * wrong token is refused also from where none is needed.
 */
export function createIdentify(options: IdentifyOptions): Identify {
  const wrong = new TokenBuckets(wrongTries, mostAddresses)

  return (attempt) => {
    const known = identified(attempt)
    if (!known.ok) return known
    let found: PeerProcess = { kind: "unknown" }
    const peer = () => {
      // It is the same as long as there is this connection.
      if (found.kind === "unknown") found = options.processOf(attempt.peer)
      return found
    }
    return ok({ ...known.value, peer })
  }

  function identified(attempt: ConnectionAttempt): Result<Caller, Failure> {
    const { peer, via, headers, ticket } = attempt
    const address = addressOf(peer)
    const authorization = headers.get("authorization")
    if (authorization !== null) {
      const bearer = readBearer(authorization)
      return bearer === null ? refuse(address, notBearer) : byToken(bearer, address, via)
    }
    if (ticket !== null) {
      const issuedTo = options.tickets.redeem(ticket)
      return issuedTo === null ? refuse(address, badTicket) : ok({ ...issuedTo, address, via })
    }
    if (peer.kind === "unix") return ok(localCaller(address, via))
    if (peer.subject !== null) return ok(byCertificate(peer.subject, address, via))
    const isLocal = isLoopbackAddress(peer.peer.address) && !isForwarded(headers)
    if (!isLocal) return fail(tokenNeeded)
    if (!options.trustsLoopback) return fail(tokenNeededHere)
    const uid = options.uidOf(peer)
    if (uid === options.ownUid || uid === root) return ok(localCaller(address, via))
    return fail(uid === null ? tokenNeeded : otherUser(uid))
  }

  function byToken(token: string, address: string, via: string): Result<Caller, Failure> {
    const checked = options.tokens.check(token)
    if (!checked.ok) return refuse(address, badToken[checked.failure])
    const { id, name, scopes } = checked.value
    const isStillGood = () => options.tokens.isStillGood(id)
    const bearer = { principal: name, scopes: new Set(scopes), tokenId: id }
    return ok({ ...bearer, address, via, isStillGood })
  }

  function byCertificate(subject: string, address: string, via: string): Caller {
    const scopes = new Set(options.certificateScopes)
    return { principal: `cert:${subject}`, scopes, address, via, isStillGood: () => true }
  }

  /** Guessing gets nowhere, but it must not get there fast either. */
  function refuse(address: string, refused: Failure): Result<never, Failure> {
    const waitS = wrong.take(networkOf(address), options.monotonicMs())
    if (waitS === 0) return fail(refused)
    const message = `Too many wrong tokens or tickets from ${address}: wait, then use a valid one.`
    return fail(failure("RATE_LIMITED", message, { retry_after: Math.ceil(waitS) }))
  }
}

/** As it is noted and counted. */
export function addressOf(peer: Peer): string {
  return peer.kind === "unix" ? "unix" : canonicalAddress(peer.peer.address)
}

function readBearer(authorization: string): string | null {
  return /^bearer +(\S+)$/i.exec(authorization.trim())?.[1] ?? null
}

const howTo =
  "Send `Authorization: Bearer TOKEN`. The operator of the service creates one with " +
  "`cc-executor token create`."
const another = "The operator of the service creates a new one with `cc-executor token create`."

const tokenNeeded = failure("UNAUTHORIZED", `This needs a token. ${howTo}`)
const tokenNeededHere = failure(
  "UNAUTHORIZED",
  "Here even the service's own user needs a token: either --require-token is set, or an " +
    `allow-list, under which commands could connect back to this port. ${howTo}`,
)
const notBearer = failure("UNAUTHORIZED", `The Authorization header is not valid. ${howTo}`)
const badTicket = failure(
  "UNAUTHORIZED",
  "The ticket is not valid: a ticket opens one connection within a minute. " +
    "Get a new one with POST /tickets.",
)
const badToken = {
  unknown: failure("UNAUTHORIZED", `The token is not valid. ${another}`),
  expired: failure("UNAUTHORIZED", `The token has expired. ${another}`),
  revoked: failure("UNAUTHORIZED", `The token was revoked. ${another}`),
}

function otherUser(uid: number): Failure {
  const message = `You are another user of this machine (uid ${uid}), so you need a token. ${howTo}`
  return failure("UNAUTHORIZED", message)
}

/** Beginnings of headers by which proxies say for whom they speak. */
const beginnings = ["x-forwarded", "forwarded", "x-envoy-", "x-original-", "x-cluster-client"]
const names = new Set([
  ...wordsOf("via x-real-ip x-client-ip client-ip cf-connecting-ip true-client-ip"),
  ...wordsOf("fastly-client-ip fly-client-ip x-azure-clientip x-proxyuser-ip"),
])

/** A proxy on loopback makes the whole internet local: what it passes on is not this machine's. */
function isForwarded(headers: { keys(): Iterable<string> }): boolean {
  for (const header of headers.keys()) {
    const name = header.toLowerCase()
    if (names.has(name) || beginnings.some((beginning) => name.startsWith(beginning))) return true
  }
  return false
}
