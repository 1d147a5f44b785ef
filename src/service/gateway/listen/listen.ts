import type { Log } from "../../../lib/log.ts"
import { removeOwned } from "../../../lib/owned-file.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { TcpEnds } from "../../../lib/tcp-ends.ts"
import type { Peer } from "../../access/identify.ts"
import type { ConnectionBounds } from "./connection-bounds.ts"
import { ConnectionWatch, closedTally } from "./connection-watch.ts"
import { isWithoutIpv6, listenErrorCode, listenErrorText } from "./listen-error.ts"
import type { AdmittedSocket } from "./socket-guard.ts"
import { openTlsListener, type TlsListener } from "./tls-listener.ts"
import type { TlsFiles } from "./tls-material.ts"
import type { TlsRefusal } from "./tls-terminator.ts"
import type { SocketSystem, WatchedConnection } from "./watched-connection.ts"

/** What comes with every WebSocket: who it is, and whatever belongs to speaking with it. */
export type SocketData<Talk> = Talk & AdmittedSocket

export type Handlers<Talk> = {
  fetch(
    request: Request,
    server: Bun.Server<SocketData<Talk>>,
    peer: Peer,
    /** Null over the unix socket. */
    connection: WatchedConnection | null,
  ): Promise<Response | undefined>
  websocket: Bun.WebSocketHandler<SocketData<Talk>>
}

export type Listening = Disposable & { port: number | null }

export type ListenFailure = { code: string; message: string }

const pairTries = 20

type Where = {
  hosts: readonly string[]
  port: number
  socketPath: string
  /** Null: plain TCP. */
  tls: TlsFiles | null
  /** Whoever has not sent a whole request by then is cut off. */
  patienceS: number
  bounds: ConnectionBounds
}

/** What becomes of clients that did not come to speak. */
export type ListenEvents = {
  log: Log
  refused: (refusal: TlsRefusal) => void
  /** Who is at the other end of a connection inside this machine. */
  uidOf: (ends: TcpEnds) => number | null
  /** Finds the connections of this process, and ends those that are too many. */
  sockets: SocketSystem
  /** When the certificate expires that is in use from now on. */
  expires: (at: Date) => void
}

type Listener = Disposable & {
  /** Answers the port; rejects with the system's error. */
  listenOn(host: string, port: number): Promise<number>
}

/** Listens on the unix socket and on every address; all of them or none. */
export async function listen<Talk>(
  where: Where,
  handlers: Handlers<Talk>,
  events: ListenEvents,
): Promise<Result<Listening, ListenFailure>> {
  for (let tries = 1; ; tries++) {
    const opened = new DisposableStack()
    try {
      const { tls } = where
      const listener =
        tls === null
          ? ok(plainListener(where, handlers, events))
          : tlsListener(where, tls, handlers, events)
      if (!listener.ok) return fail({ code: "ETLS", message: listener.failure })
      opened.use(listener.value)
      let port: number | null = null
      for (const host of where.hosts) {
        const wanted: number = where.port === 0 ? (port ?? 0) : where.port
        port = (await listenOn(listener.value, host, wanted, where)) ?? port
      }
      opened.use(listenLocally(where, handlers))
      return ok({ port, [Symbol.dispose]: () => opened.dispose() })
    } catch (error) {
      opened.dispose()
      const code = listenErrorCode(error)
      // The port that was free on one address may be taken on the next.
      const mayTryAgain = where.port === 0 && code === "EADDRINUSE" && tries < pairTries
      if (!mayTryAgain) return fail({ code, message: listenErrorText(error, where) })
    }
  }
}

/** Null where there is no IPv6. */
async function listenOn(
  listener: Listener,
  host: string,
  port: number,
  where: Where,
): Promise<number | null> {
  try {
    return await listener.listenOn(host, port)
  } catch (error) {
    if (isWithoutIpv6(error, host, where.hosts)) return null
    throw error
  }
}

function plainListener<Talk>(
  { patienceS, bounds }: Where,
  handlers: Handlers<Talk>,
  events: ListenEvents,
): Listener {
  const servers = new DisposableStack()
  const watch = servers.use(watchConnections(bounds, events, (ends) => ends))
  return {
    async listenOn(host, port) {
      const server = serveOn({ host, port, patienceS, watch }, handlers, (peer, localPort) => {
        const local = { address: host, port: localPort }
        return { kind: "tcp", peer, local, subject: null }
      })
      servers.defer(() => void server.stop(true))
      return server.port ?? port
    },
    [Symbol.dispose]: () => servers.dispose(),
  }
}

/** The plain server behind it has an address too: who comes there by himself is refused. */
function tlsListener<Talk>(
  { patienceS, bounds }: Where,
  files: TlsFiles,
  handlers: Handlers<Talk>,
  events: ListenEvents,
): Result<Listener, string> {
  const inside = new DisposableStack()
  let tls: TlsListener | null = null
  const watch = inside.use(
    watchConnections(bounds, events, ({ peer: inner }) => {
      const outer = tls?.peerOf(inner) ?? null
      return outer === null ? null : { peer: outer, local: outer.local }
    }),
  )
  const innerAddress = { host: "127.0.0.1", port: 0 }
  const server = serveOn({ ...innerAddress, patienceS, watch }, handlers, (inner) => {
    const outer = tls?.peerOf(inner) ?? null
    if (outer === null) {
      events.refused({ ...inner, kind: "stranger", why: "the internal port was called directly" })
      return null
    }
    const { address, port, local, subject } = outer
    return { kind: "tcp", peer: { address, port }, local, subject }
  })
  inside.defer(() => void server.stop(true))
  const opened = openTlsListener({
    files,
    innerPort: server.port ?? 0,
    limits: bounds.tls,
    ...events,
  })
  if (!opened.ok) {
    inside.dispose()
    return opened
  }
  tls = inside.use(opened.value)
  return ok({
    listenOn: (host, port) => opened.value.listenOn(host, port),
    [Symbol.dispose]: () => inside.dispose(),
  })
}

function watchConnections(
  bounds: ConnectionBounds,
  { sockets: system, uidOf, log }: ListenEvents,
  clientOf: (ends: TcpEnds) => TcpEnds | null,
): ConnectionWatch {
  return new ConnectionWatch({ system, bounds, clientOf, uidOf, closed: closedTally(log) })
}

type Ends = { address: string; port: number }

/** `peerOf` answers null for whom nothing is known about: nothing is served to him. */
function serveOn<Talk>(
  where: { host: string; port: number; patienceS: number; watch: ConnectionWatch },
  handlers: Handlers<Talk>,
  peerOf: (from: Ends, localPort: number) => Peer | null,
): Bun.Server<SocketData<Talk>> {
  const { watch } = where
  const serving = Bun.serve({
    ...common(handlers, (request, server) => {
      const from = server.requestIP(request)
      const peer = from === null ? null : peerOf(from, server.port ?? 0)
      if (from === null || peer === null) return new Response(stranger, { status: 403 })
      return handlers.fetch(request, server, peer, watch.find(from))
    }),
    hostname: where.host,
    port: where.port,
    reusePort: false, // without `development` it would be shared with another service, silently
    idleTimeout: where.patienceS, // until a request is there, however slowly it comes
  })
  watch.watch(serving.port ?? 0)
  return serving
}

const stranger = "This port is internal. Connect to the address that the service listens on.\n"

function listenLocally<Talk>(where: { socketPath: string }, handlers: Handlers<Talk>): Disposable {
  // Only the holder of the state directory's lock comes here: a file that is there is a dead one's.
  removeOwned(where.socketPath)
  const umask = process.umask(0o177)
  try {
    const server = Bun.serve({
      ...common(handlers, (request, own) => handlers.fetch(request, own, { kind: "unix" }, null)),
      unix: where.socketPath,
    })
    return { [Symbol.dispose]: () => void server.stop(true) }
  } finally {
    process.umask(umask)
  }
}

type Answer<Talk> = (
  request: Request,
  server: Bun.Server<SocketData<Talk>>,
) => Response | Promise<Response | undefined>

function common<Talk>(handlers: Handlers<Talk>, answer: Answer<Talk>) {
  return {
    development: false, // else Bun prints why it aborted a stream
    // The API has a limit of its own, and says so where Bun would only answer 413. What nobody
    // reads of a body Bun does not keep.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch(request: Request, server: Bun.Server<SocketData<Talk>>) {
      server.timeout(request, 0) // streams are silent for hours: whoever is hurried sets its own
      return answer(request, server)
    },
    websocket: handlers.websocket,
  }
}
