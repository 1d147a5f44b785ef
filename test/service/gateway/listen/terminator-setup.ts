import { connect as connectPlain, type Socket } from "node:net"
import { connect, type TLSSocket } from "node:tls"
import {
  readTlsMaterial,
  type TlsFiles,
  type TlsMaterial,
} from "../../../../src/service/gateway/listen/tls-material.ts"
import {
  type TlsRefusal,
  TlsTerminator,
  type TlsTerminatorOptions,
} from "../../../../src/service/gateway/listen/tls-terminator.ts"
import { Authority, type IssuedCertificate } from "../../../support/certificates.ts"

const floodPiece = Buffer.alloc(64 * 1024, "y\n")

type StageOptions = Partial<TlsTerminatorOptions> & { wantsClients?: boolean }

/** A front with a small plain server behind it, which says whom it takes its caller for. */
export class FrontStage implements AsyncDisposable {
  readonly terminator: TlsTerminator
  readonly refusals: TlsRefusal[] = []
  readonly authority: Authority
  readonly files: TlsFiles
  readonly inner: Bun.Server<undefined>
  /** Bytes the plain server has sent of a flood. */
  floodedBytes = 0
  port = 0

  private constructor(authority: Authority, { wantsClients = false, ...options }: StageOptions) {
    this.authority = authority
    const own = authority.issue({ subject: "/CN=first" })
    this.files = { ...own, clientCa: wantsClients ? authority.ca : null }
    this.inner = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, server) => this.#answer(request, server),
      websocket: {
        message: (socket, message) => void socket.send(message),
        open: (socket) => this.#flood(socket),
        drain: (socket) => this.#flood(socket),
        backpressureLimit: 16 * 1024 * 1024,
      },
    })
    this.terminator = new TlsTerminator({
      innerPort: this.inner.port ?? 0,
      material: materialOf(this.files),
      mostConnections: 1000,
      mostConnectionsPerAddress: 1000,
      onRefused: (refusal) => this.refusals.push(refusal),
      ...options,
    })
  }

  static async open(authority: Authority, options: StageOptions = {}): Promise<FrontStage> {
    const stage = new FrontStage(authority, options)
    stage.port = await stage.terminator.listenOn("127.0.0.1", 0)
    return stage
  }

  url(scheme: "https" | "http" | "wss" | "ws", path = "/"): string {
    return `${scheme}://localhost:${this.port}${path}`
  }

  /** What the plain server says to one request; each comes over a connection of its own. */
  async ask(path: string, certificate?: IssuedCertificate, body?: Uint8Array<ArrayBuffer>) {
    const response = await fetch(this.url("https", path), {
      tls: this.authority.trust(certificate),
      ...(body === undefined ? {} : { method: "POST", body }),
      keepalive: false,
    })
    return response.text()
  }

  /** A TLS connection whose handshake is over. */
  async connect(certificate?: IssuedCertificate): Promise<TLSSocket> {
    const own = certificate === undefined ? {} : await pem(certificate)
    const ca = await Bun.file(this.authority.ca).text()
    const socket = connect({
      host: "127.0.0.1",
      servername: "localhost",
      port: this.port,
      ca,
      ...own,
    })
    socket.on("error", () => undefined)
    await new Promise((resolve, reject) => {
      socket.once("secureConnect", resolve)
      socket.once("close", () => reject(new Error("closed in the handshake")))
    })
    return socket
  }

  /** A TCP connection on which nobody has said anything. */
  async connectTcp(): Promise<Socket> {
    const socket = connectPlain(this.port, "127.0.0.1")
    socket.on("error", () => undefined)
    socket.resume() // else it does not hear that it was closed
    await new Promise((resolve) => socket.once("connect", resolve))
    return socket
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.terminator[Symbol.dispose]()
    await this.inner.stop(true)
  }

  async #answer(request: Request, server: Bun.Server<undefined>): Promise<Response | undefined> {
    const { pathname } = new URL(request.url)
    if (pathname === "/flood" && server.upgrade(request)) return undefined
    if (pathname === "/length") return new Response(`${(await request.bytes()).length}`)
    if (pathname === "/large") return new Response(floodPiece.toString().repeat(100))
    const from = server.requestIP(request)
    return Response.json(from === null ? null : this.terminator.peerOf(from))
  }

  #flood(socket: Bun.ServerWebSocket): void {
    while (true) {
      const sent = socket.send(floodPiece)
      if (sent !== 0) this.floodedBytes += floodPiece.length
      if (sent <= 0) return
    }
  }
}

export function materialOf(files: TlsFiles): TlsMaterial {
  const material = readTlsMaterial(files)
  if (!material.ok) throw new Error(material.failure)
  return material.value
}

/** How a promise failed, in words. */
export async function failure(promise: Promise<unknown>): Promise<string> {
  return promise.then(() => "it did not fail", String)
}

/** A request for a WebSocket, on a connection that is written by hand. */
export function upgradeTo(path: string): string {
  const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
  const headers = `Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}`
  return `GET ${path} HTTP/1.1\r\n${headers}\r\n`
}

async function pem({ cert, key }: IssuedCertificate): Promise<IssuedCertificate> {
  return { cert: await Bun.file(cert).text(), key: await Bun.file(key).text() }
}
