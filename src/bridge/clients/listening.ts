import { fail, ok, type Result } from "../../lib/result.ts"
import type { TcpEnds } from "../../lib/tcp-ends.ts"

/** Where clients come in from the network. */
export type ListenAddress = {
  scheme: "ws" | "http"
  host: string
  port: number
  /** Null: any path will do. */
  path: string | null
}

export type Listening = {
  /** As a client would write it. */
  url: string
  /** Ends every connection. */
  close(): Promise<void>
}

/** Starts a server; what can go wrong there is told in words. */
export function tryServe<Server>(
  address: ListenAddress,
  serve: () => Server,
): Result<Server, string> {
  try {
    return ok(serve())
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const code = "code" in error ? String(error.code) : ""
    return fail(explain(code, address, error.message))
  }
}

function explain(code: string, { host, port }: ListenAddress, message: string): string {
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

export function urlOf({ scheme, host, path }: ListenAddress, port: number): string {
  const shown = host.includes(":") ? `[${host}]` : host
  return `${scheme}://${shown}:${port}${path ?? "/"}`
}

/** A server that is asked who sent a request. */
export type Asked = {
  requestIP(request: Request): { address: string; port: number } | null
  port?: number | undefined
}

/** Null when the client is gone already. */
export function endsOf(server: Asked, request: Request, host: string): TcpEnds | null {
  const peer = server.requestIP(request)
  if (peer === null) return null
  const local = { address: host, port: server.port ?? 0 }
  return { peer: { address: peer.address, port: peer.port }, local }
}

/** Whether the path is one that is served. */
export function isServedPath({ path }: ListenAddress, request: Request): boolean {
  if (path === null) return true
  return URL.parse(request.url)?.pathname === path
}
