import type { Failure } from "../../../protocol/failure.ts"
import type { GatewaySettings } from "../../../protocol/gateway-settings.ts"
import { mostUnsentBytes, tryAgainLater } from "../../../protocol/session-limits.ts"
import { addressOf } from "../../access/identify.ts"
import type { GarbageCollector } from "../../os/garbage-collector.ts"
import { refuse as refusing } from "../../transports/http/answer.ts"
import type { Connection as HttpConnection } from "../../transports/http/ports.ts"
import type { OpenSession, Sessions, Speak } from "../../transports/socket/sessions.ts"
import type { Handlers } from "../listen/listen.ts"
import { RequestTurn } from "../listen/request-turn.ts"
import type { WatchedConnection } from "../listen/watched-connection.ts"
import { keeperGone } from "../operations/keeper-link.ts"
import type { Refusals } from "../ports.ts"
import type { Access } from "./access.ts"
import { withUnixPeer } from "./unix-session-peer.ts"

/** How a client is spoken to, its session once it is open, and the connection beneath it. */
type Talk = {
  speak: Speak | undefined
  session: OpenSession | null
  connection: WatchedConnection | null
}

type Served = {
  /** What a client waits for before it is answered; null when it need not. */
  untilAdmitted: () => Promise<void> | null
  /** Without one, this process is about to end. */
  hasKeeper: () => boolean
  settings: GatewaySettings
  sessions: Sessions
  trail: Refusals
  garbage: GarbageCollector
  clientAccess: Access
  http: (request: Request, connection: HttpConnection) => Response | Promise<Response>
  /** For those who offer its subprotocol. */
  mcp: () => Promise<Speak>
}

/** What becomes of requests and WebSockets, by whichever address they come. */
export function serveClients(served: Served): Handlers<Talk> {
  const { untilAdmitted, hasKeeper, settings, sessions, trail, garbage } = served
  const { clientAccess, http, mcp } = served
  const patienceS = settings.access.requestTimeoutMs / 1000
  return {
    async fetch(request, server, peer, connection) {
      const admission = untilAdmitted()
      if (admission !== null) await admission
      // Bun makes the URL of whatever the Host header says.
      const url = URL.parse(request.url)
      const refuse = (failure: Failure) => {
        const via = url?.pathname === "/ws/mcp" ? "websocket" : "http"
        const address = addressOf(peer)
        trail.refused({ principal: null, address, via, method: "connect", failure })
        return refusing(failure)
      }
      if (url === null) return refuse(noHost)
      if (url.pathname !== "/ws/mcp") {
        server.timeout(request, patienceS)
        using turn = new RequestTurn(request, connection)
        const response = await http(request, {
          peer,
          async hasArrived() {
            server.timeout(request, 0)
            return turn.hasArrived()
          },
          hasAnswered() {
            server.timeout(request, patienceS)
            turn.hasAnswered()
          },
        })
        return await turn.deliver(response)
      }
      // Whoever was let in now would wait for the next service with nobody to tell them.
      if (!hasKeeper()) return refuse(keeperGone)
      const admitted = clientAccess.socketGuard(request, url, peer)
      if (!admitted.ok) {
        await clientAccess.tarpit.hold(admitted.failure)
        return refuse(admitted.failure)
      }
      using taken = new DisposableStack()
      taken.use(admitted.value.connectionSlot)
      const protocols = request.headers.get("sec-websocket-protocol")?.split(",") ?? []
      const offered = protocols.map((protocol) => protocol.trim())
      const speaksMcp = offered.includes("mcp")
      // Bun would choose the first protocol offered, whether we speak it or not.
      const chosen = speaksMcp ? "mcp" : ""
      const headers = offered.length === 0 ? {} : { "Sec-WebSocket-Protocol": chosen }
      const speak = speaksMcp ? await mcp() : undefined
      const data = { session: null, ...admitted.value, speak, connection }
      if (!server.upgrade(request, { data, headers })) return refuse(notAnUpgrade)
      taken.move() // the socket gives its place back when it is closed
      return undefined
    },
    websocket: {
      idleTimeout: 0,
      sendPings: false, // sessions ping by themselves, and know who answered
      perMessageDeflate: false,
      maxPayloadLength: settings.maxMessageBytes,
      backpressureLimit: mostUnsentBytes,
      closeOnBackpressureLimit: true,
      open(socket) {
        const { speak, connection } = socket.data
        const caller =
          socket.data.caller.address === "unix"
            ? withUnixPeer(socket.data.caller, socket, clientAccess.unixPeers)
            : socket.data.caller
        socket.data.session = sessions.open(socket, caller, { speak, incoming: connection })
        connection?.becomeSession({
          principal: caller.principal,
          close: (reason) => socket.close(tryAgainLater, reason),
        })
      },
      async message(socket, message) {
        const { session, connection } = socket.data
        connection?.heardMessage(Buffer.byteLength(message))
        if (session === null) return
        sessions.heard(session)
        garbage.reportGarbage(message.length)
        await session.receive(typeof message === "string" ? message : message.toString("utf8"))
      },
      ping(socket, data) {
        socket.data.connection?.heardMessage(data.length)
      },
      pong(socket, data) {
        const { session, connection } = socket.data
        connection?.heardMessage(data.length)
        if (session !== null) sessions.heard(session)
      },
      drain(socket) {
        const { session } = socket.data
        if (session === null) return
        sessions.heard(session) // it takes what it gets, however slowly
        if (socket.getBufferedAmount() === 0) session.drained()
      },
      close(socket, code, reason) {
        socket.data.connectionSlot[Symbol.dispose]()
        const { session } = socket.data
        if (session === null) return
        // Bun has refused it, and this is all it says.
        if (reason === "Received too big message") session.refusedTooLarge(settings.maxMessageBytes)
        sessions.close(session, code)
      },
    },
  }
}

const notAnUpgrade: Failure = {
  reason: "INVALID_REQUEST",
  message: "This address is for WebSockets: connect with ws://.",
}

const noHost: Failure = {
  reason: "INVALID_REQUEST",
  message: "The Host header is not valid.",
}
