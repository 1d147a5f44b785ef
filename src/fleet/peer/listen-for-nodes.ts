import { constants } from "node:crypto"
import { fail, ok, type Result } from "../../lib/result.ts"
import { canonicalAddress } from "../../lib/tcp-ends.ts"
import { connectionBounds } from "../../service/gateway/listen/connection-bounds.ts"
import {
  HandshakeFailures,
  TotalConnectionLimiter,
} from "../../service/gateway/listen/connection-limiter.ts"
import { listenErrorCode } from "../../service/gateway/listen/listen-error.ts"
import {
  readTlsMaterial,
  type TlsFiles,
  type TlsMaterial,
} from "../../service/gateway/listen/tls-material.ts"
import { TlsRotation } from "../../service/gateway/listen/tls-rotation.ts"
import { Sessions } from "../../service/transports/socket/sessions.ts"
import type { NodeIdentity } from "../ports.ts"
import { ArrivingNode } from "./arriving-node.ts"
import { nameIn } from "./certificate-name.ts"
import type { NodeListenerOptions } from "./node-listener-options.ts"

export type NodeListening = Disposable & { port: number }

/** A session between nodes carries what many of a principal's clients ask. */
const requestsOfMany = 10

type Arrived = { node: ArrivingNode | null }

/** Nodes that come to this one: over TLS only, with a certificate of the fleet's authority. */
export function listenForNodes(options: NodeListenerOptions): Result<NodeListening, string> {
  const { advertise, identity, settings, log } = options
  const files = filesOf(identity)
  const material = readTlsMaterial(files)
  if (!material.ok) return material
  using opened = new DisposableStack()
  const sessions = opened.use(sessionsOfNodes(options))
  const handlers = socketHandlers(options, sessions)
  const bind = (port: number, used: TlsMaterial) =>
    Bun.listen<Arrived>({
      hostname: advertise.host,
      port,
      exclusive: true,
      tls: tlsOf(used),
      socket: handlers,
    })
  try {
    let listener = bind(advertise.port, material.value)
    const { port } = listener
    opened.defer(() => listener.stop(true))
    const use = (next: TlsMaterial) => {
      listener.stop(false) // those who are here stay
      listener = bind(port, next)
    }
    opened.use(new TlsRotation({ files, material: material.value, use, log }))
    log.info({ node: identity.name, port }, "listening for other nodes")
    const listening = opened.move()
    return ok({ port, [Symbol.dispose]: () => listening.dispose() })
  } catch (error) {
    return fail(listenFailure(listenErrorCode(error), advertise))
  }

  function sessionsOfNodes(ports: NodeListenerOptions): Sessions {
    const messagesPerSecond = settings.access.messagesPerSecond * requestsOfMany
    const limits = { ...settings, messagesPerSecond, runAs: null }
    return new Sessions(limits, ports.operations, { ...ports, flooded: () => undefined })
  }
}

/** What becomes of a connection, from its first packet on. */
function socketHandlers(
  options: NodeListenerOptions,
  sessions: Sessions,
): Bun.SocketHandler<Arrived> {
  const { mostConnections } = connectionBounds(options.descriptors, 0).tls
  // One node comes from one address, however many it speaks for.
  const most = { mostConnections, mostConnectionsPerAddress: mostConnections }
  const limiter = new TotalConnectionLimiter(most)
  const failures = new HandshakeFailures(() => performance.now())
  return {
    binaryType: "uint8array",
    open(socket) {
      const address = canonicalAddress(socket.remoteAddress)
      const end = { address, port: socket.remotePort }
      socket.data = { node: null }
      if (failures.isBlocked(address)) {
        socket.terminate()
        return
      }
      const slot = limiter.acquire(address)
      if (typeof slot === "string") {
        options.refused({ ...end, kind: "full", why: slot })
        socket.terminate()
        return
      }
      socket.data.node = new ArrivingNode(socket, end, slot, { ...options, sessions })
    },
    handshake(socket, isGood, error) {
      const { node } = socket.data
      if (node === null) return
      if (isGood) return node.hasShown(nameIn(socket.getPeerCertificate()))
      failures.add(node.address)
      node.hasFailed(error?.message ?? "there was no handshake")
    },
    data: (socket, bytes) => socket.data.node?.received(bytes),
    drain: (socket) => socket.data.node?.drained(),
    close(socket) {
      socket.data?.node?.closed()
    },
    error: (socket) => socket.terminate(),
  }
}

function filesOf({ cert, key, ca }: NodeIdentity): TlsFiles {
  const flags = { cert: "--fleet-cert", key: "--fleet-key", clientCa: "--fleet-ca" }
  return { cert, key, clientCa: ca, flags }
}

function tlsOf({ cert, key, clientCa }: TlsMaterial): Bun.TLSOptions {
  return {
    cert,
    key,
    ...(clientCa === null ? {} : { ca: clientCa }),
    requestCert: true,
    rejectUnauthorized: true,
    // A session that is resumed shows no certificate again.
    secureOptions: constants.SSL_OP_NO_TICKET,
  }
}

function listenFailure(code: string, { host, port }: NodeListenerOptions["advertise"]): string {
  return (
    `Cannot listen for other nodes on ${host}:${port} (${code}). ` +
    "Choose another address of this machine, or another port, with --advertise."
  )
}
