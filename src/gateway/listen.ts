import { rmSync } from "node:fs"
import { fail, ok, type Result } from "../execution/result.ts"

/** What comes with every WebSocket: the session, once it is open. */
export type SocketData<Session> = { session: Session | null; isLocal: boolean }

export type Handlers<Session> = {
  fetch(
    request: Request,
    server: Bun.Server<SocketData<Session>>,
    isLocal: boolean,
  ): Promise<Response | undefined>
  websocket: Bun.WebSocketHandler<SocketData<Session>>
}

export type Listening = Disposable & { port: number | null }

export type ListenFailure = { code: string; message: string }

const pairTries = 20

/** Listens on the unix socket and on every address; all of them or none. */
export function listen<Session>(
  where: { hosts: readonly string[]; port: number; socketPath: string },
  handlers: Handlers<Session>,
): Result<Listening, ListenFailure> {
  for (let tries = 1; ; tries++) {
    const servers = new DisposableStack()
    try {
      let port: number | null = null
      for (const host of where.hosts) {
        const wanted: number = where.port === 0 ? (port ?? 0) : where.port
        const server = listenOn(host, wanted, where, handlers)
        if (server === null) continue
        servers.defer(() => void server.stop(true))
        port = server.port ?? null
      }
      servers.use(listenLocally(where, handlers))
      return ok({ port, [Symbol.dispose]: () => servers.dispose() })
    } catch (error) {
      servers.dispose()
      const code = codeOf(error)
      // The port that was free on one address may be taken on the next.
      const mayTryAgain = where.port === 0 && code === "EADDRINUSE" && tries < pairTries
      if (!mayTryAgain) return fail({ code, message: explain(code, where, error) })
    }
  }
}

/** Null where there is no IPv6, as in most containers: `localhost` is 127.0.0.1 alone then. */
function listenOn<Session>(
  host: string,
  port: number,
  where: { hosts: readonly string[] },
  handlers: Handlers<Session>,
): Bun.Server<SocketData<Session>> | null {
  try {
    return Bun.serve({
      ...common(handlers, false),
      hostname: host,
      port,
      reusePort: false, // without `development` it would be shared with another service, silently
      idleTimeout: 0, // streams are silent for hours
    })
  } catch (error) {
    const isAbsent = ["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(codeOf(error))
    if (isAbsent && host === "::1" && where.hosts.includes("127.0.0.1")) return null
    throw error
  }
}

function listenLocally<Session>(
  where: { socketPath: string },
  handlers: Handlers<Session>,
): Disposable {
  // Only the holder of the state directory's lock comes here: a file that is there is a dead one's.
  rmSync(where.socketPath, { force: true })
  const umask = process.umask(0o177)
  try {
    const server = Bun.serve({
      ...common(handlers, true),
      unix: where.socketPath,
    })
    return { [Symbol.dispose]: () => void server.stop(true) }
  } finally {
    process.umask(umask)
  }
}

function common<Session>(handlers: Handlers<Session>, isLocal: boolean) {
  return {
    development: false, // else Bun prints why it aborted a stream
    // The API has a limit of its own, and says so where Bun would only answer 413. What nobody
    // reads of a body Bun does not keep.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch(request: Request, server: Bun.Server<SocketData<Session>>) {
      // For the unix socket the type forbids a general idle timeout: each request sets its own.
      server.timeout(request, 0)
      return handlers.fetch(request, server, isLocal)
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
        `${address} is taken by another program. ` +
        "Choose another port with --port, or end that program."
      )
    case "EACCES":
      return `${address} may not be used by this user. Choose a port above 1023 with --port.`
    case "EADDRNOTAVAIL":
      return `${address} is not an address of this machine. Choose another one with --host.`
    default:
      return `Cannot listen on ${address}: ${error instanceof Error ? error.message : code}.`
  }
}
