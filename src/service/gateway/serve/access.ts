import { randomBytes } from "node:crypto"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { TokenBuckets } from "../../../lib/token-bucket.ts"
import type { Logger } from "../../../log/log.ts"
import { type Failure, failure, withDetails } from "../../../protocol/failure.ts"
import type { GatewaySettings } from "../../../protocol/gateway-settings.ts"
import type { PeerProcess } from "../../../protocol/ipc.ts"
import type { Caller } from "../../access/caller.ts"
import { createIdentify, type Identify, type Peer, type TokenCheck } from "../../access/identify.ts"
import type { KnownNames } from "../../access/origin.ts"
import { Tarpit, TemporaryBans } from "../../access/temporary-bans.ts"
import { Tickets } from "../../access/tickets.ts"
import {
  endPageSession,
  openPageSession,
  type PageSessionPorts,
} from "../../access/tokens/page-session.ts"
import { TokenBook } from "../../access/tokens/token-book.ts"
import type { TokenFileFailure } from "../../access/tokens/token-file.ts"
import { tryLock } from "../../os/libc.ts"
import { type PeerUsers, peerUsers } from "../../os/network/peer-user.ts"
import { type UnixPeers, unixPeers } from "../../os/network/unix-peers.ts"
import type { CallerOf, PageSessions } from "../../transports/http/ports.ts"
import { createSocketGuard, type SocketGuard } from "../listen/socket-guard.ts"

/** Decides who a client is, over every transport. */
export type Access = Disposable & {
  callerOf: CallerOf
  socketGuard: SocketGuard
  tickets: Tickets
  bans: TemporaryBans
  uidOf: PeerUsers["uidOf"]
  unixPeers: UnixPeers
  tarpit: Tarpit
  tokensAreReadable(): boolean
  pageSessions: PageSessions
  /** By what names the service goes, and whose pages may use it. */
  known: KnownNames
}

/** Those whose requests are counted at the same time; past it the oldest are forgotten. */
const mostPrincipals = 10_000

export function openAccess(settings: GatewaySettings, log: Logger): Access {
  const { access } = settings
  const users = peerUsers()
  const unix = unixPeers(settings.socketPath)
  const tickets = new Tickets(() => randomBytes(24).toString("base64url"), monotonicMs)
  const tellFailure = ({ message }: TokenFileFailure) =>
    log.error({ reason: message }, "tokens cannot be read: no token is accepted")
  const book = new TokenBook(settings.stateDir, tellFailure, access.acceptedTokens)
  const identify = createIdentify({
    ...access,
    tokens: tokenCheck(book),
    tickets,
    uidOf: (ends) => users.uidOf(ends),
    processOf: (peer) => processOf(peer, users, unix),
    certificateScopes: settings.clientCertScopes,
    monotonicMs,
  })
  const bans = new TemporaryBans(monotonicMs)
  const tarpit = new Tarpit((delayMs) => Bun.sleep(delayMs))
  const known = { ...access, allowedHosts: [...settings.listen.hosts, ...access.allowedHosts] }
  return {
    callerOf: httpCaller(identify, access),
    socketGuard: createSocketGuard(known, identify, bans),
    tickets,
    bans,
    uidOf: (ends) => users.uidOf(ends),
    unixPeers: unix,
    tarpit,
    tokensAreReadable: () => book.isReadable(),
    pageSessions: pageSessions(settings.stateDir, book),
    known,
    [Symbol.dispose]: () => users[Symbol.dispose](),
  }
}

/** Over the unix socket, one of those that are connected: a WebSocket finds out which. */
function processOf(peer: Peer, users: PeerUsers, unix: UnixPeers): PeerProcess {
  if (peer.kind === "unix") return { kind: "one-of", pids: unix.all() }
  const socket = users.inodeOf(peer)
  if (socket === null) return { kind: "unknown" }
  return socket === 0 ? { kind: "elsewhere" } : { kind: "holder", socket }
}

/** Each is a file that is written and synced. */
const openingRate = { perSecond: 0.2, burst: 20 }
const tokenLockMs = 5_000

function pageSessions(stateDirectory: string, book: TokenBook): PageSessions {
  const openings = new TokenBuckets(openingRate, mostPrincipals)
  const ports: PageSessionPorts = {
    stateDirectory,
    lock: { tryLock, limitMs: tokenLockMs },
    now: () => new Date(),
    random: (bytes) => crypto.getRandomValues(bytes),
    entryOf: (id) => book.entryOf(id, new Date()),
  }
  return {
    async open({ tokenId = "", principal }) {
      const retry_after = openings.take(principal, monotonicMs())
      if (retry_after === 0) return openPageSession(tokenId, ports)
      return fail(failure("RATE_LIMITED", "Too many sessions are being opened.", { retry_after }))
    },
    end: ({ tokenId = "" }) => endPageSession(tokenId, ports),
  }
}

/** Over HTTP there is no session to count messages of: requests are counted by who asks. */
function httpCaller(
  identify: Identify,
  { messagesPerSecond: perSecond, runsIn }: GatewaySettings["access"],
): CallerOf {
  const requests = new TokenBuckets({ perSecond, burst: perSecond * 2 }, mostPrincipals)
  return (request, { peer }) => {
    if (peer === undefined) throw new Error("a request came from nowhere")
    const caller = paced(identify({ via: "http", peer, headers: request.headers, ticket: null }))
    return caller.ok ? ok({ ...caller.value, isGone: () => request.signal.aborted }) : caller
  }

  function paced(caller: Result<Caller, Failure>): Result<Caller, Failure> {
    if (!caller.ok) return fail(withPlace(caller.failure))
    const retryAfterS = requests.take(caller.value.principal, monotonicMs())
    if (retryAfterS === 0) return caller
    const message = "You send requests too fast: wait for `retry_after` seconds."
    return fail(failure("RATE_LIMITED", message, { retry_after: retryAfterS }))
  }

  /** A page tells its reader where tokens come from. */
  function withPlace(refused: Failure): Failure {
    return refused.reason === "UNAUTHORIZED" ? withDetails(refused, { runs_in: runsIn }) : refused
  }
}

function tokenCheck(book: TokenBook): TokenCheck {
  return {
    check(token) {
      const checked = book.check(token, new Date())
      if (checked.ok) return checked
      const { failure: why } = checked
      // What was wrong with it is told to whoever has had the right secret, and to nobody else.
      return fail(why === "expired" || why === "revoked" ? why : "unknown")
    },
    isStillGood: (id) => book.isStillGood(id, new Date()),
  }
}

function monotonicMs(): number {
  return performance.now()
}
