import type { Log } from "../../lib/log.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, wireCodes } from "../../protocol/failure.ts"
import type { MessageId } from "../messages/message.ts"
import type { OpenTarget, TargetLimits } from "../ports.ts"
import type { RequestGuard } from "./request-guard.ts"

/** Where clients come in from the network. */
export type ListenAddress = {
  scheme: "ws" | "http"
  host: string
  port: number
  /** Null: any path will do. */
  path: string | null
}

export type ClientsSettings = {
  address: ListenAddress
  guard: RequestGuard
  openTarget: OpenTarget
  limits: TargetLimits
  /** Clients, or connections to the target, at once. */
  connections: number
  /** How long a connection to the target is kept that nobody uses. */
  idleMs: number
  log: Log
}

export type Listening = {
  /** As a client would write it. */
  url: string
  /** Ends every connection. */
  close(): Promise<void>
}

type Server = {
  requestIP(request: Request): { address: string; port: number } | null
  port?: number | undefined
  stop(closeActiveConnections: boolean): Promise<void>
}

/** What every server of ours is started with. */
export type ServeOptions = {
  hostname: string
  port: number
  reusePort: false
  development: false
  /** In seconds. */
  idleTimeout: number
}

const idleTimeout = 30

/** Starts a server. `close` ends what its clients use, before their connections are ended. */
export function listen(
  { scheme, host, port, path }: ListenAddress,
  serve: (options: ServeOptions) => Server,
  close: () => Promise<unknown>,
): Result<Listening, string> {
  try {
    const server = serve({
      hostname: host,
      port,
      reusePort: false,
      development: false,
      idleTimeout,
    })
    const shownHost = host.includes(":") ? `[${host}]` : host
    return ok({
      url: `${scheme}://${shownHost}:${server.port ?? port}${path ?? "/"}`,
      async close() {
        await close()
        await server.stop(true)
      },
    })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const code = "code" in error ? String(error.code) : ""
    return fail(listenFailure(code, host, port, error.message))
  }
}

function listenFailure(code: string, host: string, port: number, message: string): string {
  switch (code) {
    case "EADDRINUSE":
      return `${host} port ${port} is in use by another program. Choose another port in --listen.`
    case "EACCES":
      return `${host} port ${port} is not permitted for this user. Choose a port above 1023.`
    case "EADDRNOTAVAIL":
      return `${host} is not an address of this machine. Choose another one in --listen.`
    default:
      return `Cannot listen on ${host} port ${port}: ${message}.`
  }
}

/** The response to a client that is not allowed, or a wrong path; null for all others. */
export function refusalFor(
  { address, guard, log }: Pick<ClientsSettings, "address" | "guard" | "log">,
  server: Server,
  request: Request,
): Response | null {
  const peer = server.requestIP(request)
  if (peer === null) return new Response(null, { status: 400 }) // it is gone already
  const local = { address: address.host, port: server.port ?? 0 }
  const allowed = guard(request, { peer: { address: peer.address, port: peer.port }, local })
  if (!allowed.ok) {
    log.warn({ peer: peer.address, reason: allowed.failure.reason }, "client refused")
    return refuseFailure(allowed.failure)
  }
  const isServed = address.path === null || URL.parse(request.url)?.pathname === address.path
  return isServed ? null : refuse(404, -32600, `Use ${address.path}.`)
}

function refuseFailure({ reason, message }: Failure): Response {
  const { http, rpc } = wireCodes(reason)
  const refused = refuse(http, rpc, message)
  if (http === 401) refused.headers.set("www-authenticate", 'Bearer realm="cc-executor bridge"')
  return refused
}

/** A refusal over HTTP, with the same words as a JSON-RPC error. */
export function refuse(
  status: number,
  code: number,
  message: string,
  id: MessageId | null = null,
): Response {
  const body = { jsonrpc: "2.0", id, error: { code, message } }
  return Response.json(body, { status, headers: { "cache-control": "no-store" } })
}
