import { rmSync } from "node:fs"
import type { Log } from "../../../lib/log.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { TcpEnds } from "../../../lib/tcp-ends.ts"
import type { Peer } from "../../access/identify.ts"
import type { AdmittedSocket } from "./socket-guard.ts"
import { openTlsListener, type TlsListener } from "./tls-listener.ts"
import type { TlsFiles } from "./tls-material.ts"
import type { TlsRefusal } from "./tls-terminator.ts"

/** What comes with every WebSocket: who it is, and whatever belongs to speaking with it. */
export type SocketData<Talk> = Talk & AdmittedSocket

export type Handlers<Talk> = {
  fetch(
    request: Request,
    server: Bun.Server<SocketData<Talk>>,
    peer: Peer,
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
}

/** What becomes of clients that did not come to speak. */
export type ListenEvents = {
  log: Log
  refused: (refusal: TlsRefusal) => void
  /** Who is at the other end of a connection inside this machine. */
  uidOf: (ends: TcpEnds) => number | null
  /** When the certificate expires that is in use from now on. */
  expires: (at: Date) => void
}

type Listener = Disposable & {
  /** Answers the port; rejects with the system's error. */
  listenOn(host: string, port: number): Promise<number>
}

/** UpdateStreams on the unix socket and on every address; all of them or none. */
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
          ? ok(plainListener(where, handlers))
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
      const code = codeOf(error)
      // The port that was free on one address may be taken on the next.
      const mayTryAgain = where.port === 0 && code === "EADDRINUSE" && tries < pairTries
      if (!mayTryAgain) return fail({ code, message: explain(code, where, error) })
    }
  }
}

/** Null where there is no IPv6, as in most containers: `localhost` is 127.0.0.1 alone then. */
async function listenOn(
  listener: Listener,
  host: string,
  port: number,
  where: Where,
): Promise<number | null> {
  try {
    return await listener.listenOn(host, port)
  } catch (error) {
    const isAbsent = ["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(codeOf(error))
    if (isAbsent && host === "::1" && where.hosts.includes("127.0.0.1")) return null
    throw error
  }
}

function plainListener<Talk>({ patienceS }: Where, handlers: Handlers<Talk>): Listener {
  const servers = new DisposableStack()
  return {
    async listenOn(host, port) {
      const server = serveOn({ host, port, patienceS }, handlers, (peer, localPort) => {
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
  { patienceS }: Where,
  files: TlsFiles,
  handlers: Handlers<Talk>,
  events: ListenEvents,
): Result<Listener, string> {
  const inside = new DisposableStack()
  let tls: TlsListener | null = null
  const server = serveOn({ host: "127.0.0.1", port: 0, patienceS }, handlers, (inner) => {
    const outer = tls?.peerOf(inner) ?? null
    if (outer === null) {
      events.refused({ ...inner, kind: "stranger", why: "the internal port was called directly" })
      return null
    }
    const { address, port, local, subject } = outer
    return { kind: "tcp", peer: { address, port }, local, subject }
  })
  inside.defer(() => void server.stop(true))
  const opened = openTlsListener({ files, innerPort: server.port ?? 0, ...events })
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

type Ends = { address: string; port: number }

/** `peerOf` answers null for whom nothing is known about: nothing is served to him. */
function serveOn<Talk>(
  where: { host: string; port: number; patienceS: number },
  handlers: Handlers<Talk>,
  peerOf: (from: Ends, localPort: number) => Peer | null,
): Bun.Server<SocketData<Talk>> {
  return Bun.serve({
    ...common(handlers, (request, server) => {
      const from = server.requestIP(request)
      const peer = from === null ? null : peerOf(from, server.port ?? 0)
      if (peer === null) return new Response(stranger, { status: 403 })
      return handlers.fetch(request, server, peer)
    }),
    hostname: where.host,
    port: where.port,
    reusePort: false, // without `development` it would be shared with another service, silently
    idleTimeout: where.patienceS, // until a request is there, however slowly it comes
  })
}

const stranger = "This port is internal. Connect to the address that the service listens on.\n"

function listenLocally<Talk>(where: { socketPath: string }, handlers: Handlers<Talk>): Disposable {
  // Only the holder of the state directory's lock comes here: a file that is there is a dead one's.
  rmSync(where.socketPath, { force: true })
  const umask = process.umask(0o177)
  try {
    const server = Bun.serve({
      ...common(handlers, (request, own) => handlers.fetch(request, own, { kind: "unix" })),
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

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "EIO"
}

function explain(
  code: string,
  where: { hosts: readonly string[]; port: number },
  error: unknown,
): string {
  const address = `${where.hosts.join(", ")} port ${where.port}`
  switch (code) {
    case "EADDRINUSE":
      return (
        `${address} is in use by another program. ` +
        "Choose another port with --port, or end that program."
      )
    case "EACCES":
      return `${address} is not permitted for this user. Choose a port above 1023 with --port.`
    case "EADDRNOTAVAIL":
      return `${address} is not an address of this machine. Choose another one with --host.`
    default:
      return `Cannot listen on ${address}: ${error instanceof Error ? error.message : code}.`
  }
}
