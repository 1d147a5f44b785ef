import { constants } from "node:crypto"
import { connect, type Socket } from "node:net"
import { createServer, type Server, type TLSSocket, type TlsOptions } from "node:tls"
import { errnoOf } from "../../../lib/errno.ts"
import { networkOf } from "../../../lib/tcp-ends.ts"
import { type ConnectionLimits, TotalConnectionLimiter } from "./connection-limiter.ts"
import { subjectName } from "./subject-name.ts"
import type { TlsMaterial } from "./tls-material.ts"

export type TlsPeer = {
  address: string
  port: number
  /** Which of our addresses it called. */
  local: End
  /** The name in its client certificate; null where none is asked for. */
  subject: string | null
}

export type End = { address: string; port: number }

export type TlsRefusal = End & {
  /**
   * `full`: because of our connection limits, not for anything the client did. `stranger`: it
   * came to the plain server, past TLS.
   */
  kind: "handshake" | "full" | "stranger"
  why: string
}

export type TlsTerminatorOptions = ConnectionLimits & {
  /** Where the plain server listens on 127.0.0.1 that gets what was decrypted. */
  innerPort: number
  material: TlsMaterial
  handshakeMs?: number
  onRefused(refusal: TlsRefusal): void
  /** Whom nobody listens to for now. */
  isBlocked?(address: string): boolean
  /** On loopback, whose limit a connection counts against: everybody there has the same address. */
  userOf?(peer: End, local: End): string | null
}

/** With TLS 1.2 too: keys that nobody can recover later, and no CBC. TLS 1.3 has no other kind. */
const tls12Ciphers = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":")

const innerHost = "127.0.0.1"
const defaultHandshakeMs = 10_000

/**
 * Speaks TLS with clients, and carries what they say to a plain server of this process. Bun's own
 * server tells nobody whose certificate it has seen, and keeps the certificate it began with. The
 * plain server asks `peerOf` who comes from a port: it is told before the first byte reaches it.
 */
export class TlsTerminator implements Disposable {
  readonly #options: TlsTerminatorOptions
  readonly #servers = new Set<Server>()
  readonly #connections = new Map<TLSSocket, End>()
  readonly #peers = new Map<number, TlsPeer>()
  readonly #connectionLimiter: TotalConnectionLimiter
  #material: TlsMaterial

  constructor(options: TlsTerminatorOptions) {
    this.#options = options
    this.#material = options.material
    this.#connectionLimiter = new TotalConnectionLimiter(options)
  }

  get connections(): number {
    return this.#connections.size
  }

  get proxiedConnections(): number {
    return this.#peers.size
  }

  /**
   * Who stands behind a connection to the plain server; null when a stranger has found that. The
   * address counts as well: from 127.0.0.2 anybody of this machine can come with the same port.
   */
  peerOf(inner: End): TlsPeer | null {
    return inner.address === innerHost ? (this.#peers.get(inner.port) ?? null) : null
  }

  /** Answers the port it got; rejects with the system's error. */
  listenOn(host: string, port: number): Promise<number> {
    const server = createServer({
      ...contextOf(this.#material),
      requestCert: this.#material.clientCa !== null,
      rejectUnauthorized: true,
      handshakeTimeout: this.#options.handshakeMs ?? defaultHandshakeMs,
    })
    server.on("connection", (socket: TLSSocket) => this.#slot(socket))
    server.on("tlsClientError", (error, socket) => this.#handshakeFailed(socket, error))
    server.on("secureConnection", (socket) => this.#admit(socket))
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    server.once("error", reject)
    server.listen({ host, port, exclusive: true }, () => {
      server.off("error", reject)
      // A failed accept, for want of descriptors, is that connection's loss alone.
      server.on("error", (error) =>
        this.#options.onRefused({ ...nobody, kind: "full", why: String(error) }),
      )
      this.#servers.add(server)
      const bound = server.address()
      resolve(typeof bound === "object" && bound !== null ? bound.port : port)
    })
    return promise
  }

  /** For whoever connects from now on; open connections stay as they are. */
  use(material: TlsMaterial): void {
    for (const server of this.#servers) server.setSecureContext(contextOf(material))
    this.#material = material
  }

  [Symbol.dispose](): void {
    for (const server of this.#servers) server.close()
    for (const socket of this.#connections.keys()) socket.destroy()
  }

  /** From the first packet on: one that never says hello counts as well. */
  #slot(socket: TLSSocket): void {
    const end = endOf(socket)
    socket.on("error", () => undefined) // what is to be done then, `close` does
    if (this.#options.isBlocked?.(end.address) === true) {
      socket.destroy()
      return
    }
    const user = this.#options.userOf?.(end, localEndOf(socket)) ?? null
    const whose = user ?? networkOf(end.address)
    const slot = this.#connectionLimiter.acquire(whose)
    if (typeof slot === "string") return this.#refuse(socket, end, "full", slot)
    this.#connections.set(socket, end)
    socket.once("close", () => {
      this.#connections.delete(socket)
      slot[Symbol.dispose]()
    })
  }

  #refuse(socket: TLSSocket, end: End, kind: TlsRefusal["kind"], why: string): void {
    this.#options.onRefused({ ...end, kind, why })
    socket.destroy()
  }

  #handshakeFailed(socket: TLSSocket, error: Error): void {
    const why = errnoOf(error) ?? error.message
    const end = this.#connections.get(socket)
    // One without a slot has been refused already, and one that left of itself is not.
    if (end === undefined || why === "ECONNRESET") socket.destroy()
    else this.#refuse(socket, end, "handshake", why)
  }

  #admit(socket: TLSSocket): void {
    const end = this.#connections.get(socket)
    if (end === undefined || socket.destroyed) return
    const subject = this.#subjectOf(socket)
    if (this.#material.clientCa !== null && subject === null) {
      return this.#refuse(socket, end, "handshake", "the client certificate contains no name")
    }
    const inner = connect({ host: innerHost, port: this.#options.innerPort })
    inner.setNoDelay(true)
    socket.setNoDelay(true)
    inner.on("error", () => socket.destroy())
    inner.once("connect", () => {
      const port = inner.localPort
      if (port === undefined || socket.destroyed) {
        inner.destroy()
        return
      }
      const peer = { ...end, local: localEndOf(socket), subject }
      this.#peers.set(port, peer)
      inner.once("close", () => {
        // By now the port may be that of a later connection.
        if (this.#peers.get(port) === peer) this.#peers.delete(port)
      })
      pipeBothWays(socket, inner)
    })
  }

  #subjectOf(socket: TLSSocket): string | null {
    if (this.#material.clientCa === null || !socket.authorized) return null
    return subjectName({ ...socket.getPeerCertificate().subject })
  }
}

function contextOf(material: TlsMaterial): TlsOptions {
  return {
    cert: material.cert,
    key: material.key,
    ...(material.clientCa === null ? {} : { ca: material.clientCa }),
    minVersion: "TLSv1.2",
    ciphers: tls12Ciphers,
    // A session that is resumed shows no certificate again, so one that has expired since, or whose
    // authority is no longer trusted, would go on to open doors.
    secureOptions: constants.SSL_OP_NO_TICKET,
  }
}

const nobody = { address: "", port: 0 }

function localEndOf({ localAddress = "", localPort = 0 }: TLSSocket): End {
  return { address: plain(localAddress), port: localPort }
}

function endOf({ remoteAddress = "", remotePort = 0 }: TLSSocket): End {
  return { address: plain(remoteAddress), port: remotePort }
}

/** Listening on `::` shows IPv4 clients in IPv6's clothes. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, "")
}

/** For a peer that neither reads its last bytes nor closes. */
const lastBytesMs = 10_000

/**
 * Carries bytes both ways, at the pace of whoever takes them more slowly: a side that is full is
 * not read for. The end of one is the end of the other, after its last bytes; a failure is at once.
 */
function pipeBothWays(one: Socket, other: Socket): void {
  one.pipe(other)
  other.pipe(one)
  endTogether(one, other)
  endTogether(other, one)
}

function endTogether(first: Socket, second: Socket): void {
  first.on("error", () => second.destroy())
  first.once("close", () => endSoon(second))
  if (first.destroyed) endSoon(second)
}

function endSoon(socket: Socket): void {
  if (socket.destroyed) return
  socket.end()
  const timer = setTimeout(() => socket.destroy(), lastBytesMs)
  socket.once("close", () => clearTimeout(timer))
}
